CREATE TABLE `products` (
	`sku` text PRIMARY KEY NOT NULL,
	`left` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `orders` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`sku` text NOT NULL REFERENCES `products`(`sku`),
	`quantity` integer NOT NULL
);
