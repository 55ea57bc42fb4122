INSERT INTO "products" ("sku", "left") VALUES ('brush', 5), ('paint', 10);
