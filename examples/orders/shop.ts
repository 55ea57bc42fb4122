import { Hono } from "hono";
import { database } from "../../adapters/drizzle/mod.ts";
import { refusalResponse } from "../../adapters/hono.ts";
import { type Admission, healthTable } from "../../mod.ts";
import { type NewOrder, type OrderBook, OutOfStock } from "./order_book.ts";

/** A shop that answers requests. */
export interface Shop {
  readonly app: Hono<{ Variables: { order: NewOrder } }>;
  /** Closes its database. */
  end(): Promise<void>;
}

/** How long a request waits for a connection, in ms. */
const WAIT_MS = 2_000;
const MOST_QUANTITY = 1_000;

/** The shop of an order book, its tables up to date. */
export async function openShop<T>(admission: Admission, book: OrderBook<T>): Promise<Shop> {
  await book.migrate(admission);
  const { provider } = book;
  const reading = database(admission, provider, { readOnly: true, timeoutMs: WAIT_MS });
  const placing = database(admission, provider, { transaction: true, timeoutMs: WAIT_MS });
  const app: Shop["app"] = new Hono();
  app.get("/stock", reading, async (c) => c.json(await book.stock(c.var.db)));
  app.get("/orders", reading, async (c) => c.json(await book.orders(c.var.db)));
  app.get("/orders/:id{[0-9]{1,9}}", reading, async (c) => {
    const order = await book.order(c.var.db, Number(c.req.param("id")));
    return order === null ? c.text("There is no such order", 404) : c.json(order);
  });
  // The body is read before a connection is asked for: a slow client holds none.
  app.post(
    "/orders",
    async (c, next) => {
      const order = newOrder(await c.req.json().catch(() => null));
      if (order === null) return c.text(`An order is { sku, quantity }, of 1 to ${MOST_QUANTITY}`, 400);
      c.set("order", order);
      await next();
    },
    placing,
    async (c) => c.json(await book.place(c.var.db, c.var.order), 201),
  );
  app.get("/health", (c) => c.text(healthTable([provider.admission])));
  app.onError((error, c) => {
    if (error instanceof OutOfStock) return c.text(error.message, 409);
    const refused = refusalResponse(error);
    if (refused === null) throw error;
    return refused;
  });
  return { app, end: () => book.end() };
}

function newOrder(body: unknown): NewOrder | null {
  if (typeof body !== "object" || body === null) return null;
  const { sku, quantity } = body as Record<string, unknown>;
  if (typeof sku !== "string" || sku.length > 100) return null;
  if (!Number.isInteger(quantity) || quantity as number < 1 || quantity as number > MOST_QUANTITY) {
    return null;
  }
  return { sku, quantity: quantity as number };
}
