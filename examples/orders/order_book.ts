import type { Admission, DBResourceProvider } from "../../mod.ts";

/** What a client asks for. */
export interface NewOrder {
  readonly sku: string;
  readonly quantity: number;
}

/** An order that was placed. */
export interface Order extends NewOrder {
  readonly id: number;
}

/** What is left of a product. */
export interface Stock {
  readonly sku: string;
  readonly left: number;
}

/** There is less of a product than was ordered. */
export class OutOfStock extends Error {
  override readonly name = "OutOfStock";

  constructor({ sku, quantity }: NewOrder) {
    super(`There are no ${quantity} of ${sku}`);
  }
}

/** The orders of a shop in some database. `T` is Drizzle's database on one connection; all but `migrate` work on that. */
export interface OrderBook<T> {
  readonly provider: DBResourceProvider<T>;
  /** Brings the tables up to date. Several processes may do so at the same time. */
  migrate(admission: Admission): Promise<void>;
  stock(db: T): Promise<Stock[]>;
  order(db: T, id: number): Promise<Order | null>;
  orders(db: T): Promise<Order[]>;
  /** Takes the products and writes the order; in a transaction, so that both happen or none. @throws OutOfStock. */
  place(db: T, order: NewOrder): Promise<Order>;
  /** Closes the connections. */
  end(): Promise<void>;
}
