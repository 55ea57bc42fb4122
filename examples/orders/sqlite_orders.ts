// The orders on the embedded database.

import { and, eq, gte, relations, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { migrate } from "drizzle-orm/sqlite-proxy/migrator";
import { fileURLToPath } from "node:url";
import { SqliteResourceProvider, type SqliteStack, withDatabase } from "../../adapters/drizzle/mod.ts";
import type { Admission } from "../../mod.ts";
import { type NewOrder, type Order, type OrderBook, OutOfStock, type Stock } from "./order_book.ts";
import { openShop, type Shop } from "./shop.ts";

const products = sqliteTable("products", {
  sku: text("sku").primaryKey(),
  left: integer("left").notNull(),
});
const orders = sqliteTable("orders", {
  id: integer("id").primaryKey({ autoIncrement: true }),
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
const MIGRATIONS = fileURLToPath(new URL("migrations/sqlite", import.meta.url));

type Stack = SqliteStack<typeof schema>;

class SqliteOrders implements OrderBook<Stack> {
  readonly provider: SqliteResourceProvider<typeof schema>;

  constructor(file: string, maxConcurrent: number) {
    this.provider = new SqliteResourceProvider("orders", { file, maxConcurrent, schema });
  }

  async migrate(admission: Admission): Promise<void> {
    await withDatabase(admission, this.provider, async (db) => {
      const apply = async (statements: string[]) => {
        for (const statement of statements) await db.run(sql.raw(statement));
      };
      await migrate(db, apply, { migrationsFolder: MIGRATIONS });
    }, { transaction: true });
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

  end(): Promise<void> {
    this.provider.end();
    return Promise.resolve();
  }
}

/** A shop whose orders are in a file, or in memory. */
export function openSqliteShop(admission: Admission, file: string, maxConcurrent: number): Promise<Shop> {
  return openShop(admission, new SqliteOrders(file, maxConcurrent));
}
