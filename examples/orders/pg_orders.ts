// The orders on PostgreSQL: other tables and another driver, the same shop.

import { and, eq, gte, relations, sql } from "drizzle-orm";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import { integer, pgTable, serial, text } from "drizzle-orm/pg-core";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { PgResourceProvider, type PgStack, withDatabase } from "../../adapters/drizzle/mod.ts";
import type { Admission } from "../../mod.ts";
import { type NewOrder, type Order, type OrderBook, OutOfStock, type Stock } from "./order_book.ts";
import { openShop, type Shop } from "./shop.ts";

const products = pgTable("products", {
  sku: text("sku").primaryKey(),
  left: integer("left").notNull(),
});
const orders = pgTable("orders", {
  id: serial("id").primaryKey(),
  sku: text("sku").notNull().references(() => products.sku),
  quantity: integer("quantity").notNull(),
});
const schema = {
  products,
  orders,
  productRelations: relations(products, ({ many }) => ({ orders: many(orders) })),
  orderRelations: relations(orders, ({ one }) => ({
    product: one(products, { fields: [orders.sku], references: [products.sku] }),
  })),
};
const MIGRATIONS = fileURLToPath(new URL("migrations/postgresql", import.meta.url));
/** Of the lock under which one process migrates at a time: any number that nothing else in the database uses. */
const LOCK = 7_306_211;

type Stack = PgStack<typeof schema>;

class PgOrders implements OrderBook<Stack> {
  readonly provider: PgResourceProvider<typeof schema>;
  readonly #pool: pg.Pool;

  constructor(url: string, maxConcurrent: number) {
    this.#pool = new pg.Pool({ connectionString: url, max: maxConcurrent });
    // A client that the server ends while it is idle is replaced; without a listener the process would end.
    this.#pool.on("error", (error) => console.error(`an idle connection ended: ${error.message}`));
    this.provider = new PgResourceProvider("orders", { pool: this.#pool, maxConcurrent, schema });
  }

  async migrate(admission: Admission): Promise<void> {
    // The migrator has a transaction of its own, so none is asked for.
    await withDatabase(admission, this.provider, async (db) => {
      await db.execute(sql`select pg_advisory_lock(${LOCK})`);
      try {
        await migrate(db, { migrationsFolder: MIGRATIONS });
      } finally {
        await db.execute(sql`select pg_advisory_unlock(${LOCK})`);
      }
    });
  }

  async stock(db: Stack): Promise<Stock[]> {
    return await db.query.products.findMany({ orderBy: products.sku });
  }

  async order(db: Stack, id: number): Promise<Order | null> {
    return await db.query.orders.findFirst({ where: eq(orders.id, id) }) ?? null;
  }

  async orders(db: Stack): Promise<Order[]> {
    return await db.query.orders.findMany({ orderBy: orders.id });
  }

  async place(db: Stack, order: NewOrder): Promise<Order> {
    const { sku, quantity } = order;
    const taken = await db.update(products).set({ left: sql`${products.left} - ${quantity}` })
      .where(and(eq(products.sku, sku), gte(products.left, quantity))).returning();
    if (taken.length === 0) throw new OutOfStock(order);
    const [placed] = await db.insert(orders).values({ sku, quantity }).returning();
    return placed!;
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }
}

/** A shop whose orders are in a PostgreSQL database. */
export function openPgShop(admission: Admission, url: string, maxConcurrent: number): Promise<Shop> {
  return openShop(admission, new PgOrders(url, maxConcurrent));
}
