/* What a catalogue holds: opened and read by catalog.c, looked into by catalog_item.c.
 */
#ifndef RIDGE_CATALOG_PARTS_H
#define RIDGE_CATALOG_PARTS_H

#include "device_read.h"
#include "price_read.h"
#include "shelf.h"

struct ridge_catalog {
    ridge_ctx *own; /* holds all below; used under the lock */
    ridge_lock *lock;
    shelf chips;
    shelf systems;
    shelf sites;
    shelf failures;
    shelf stacks;
    shelf engines;
    data_set price_set;
    price_list prices;
    bool has_prices; /* the list was read */
    data_set device_set;
    device_list devices;
    bool has_devices; /* the same */
};

/** A thing by position. The readers come here too, holding the lock already.
 * @param cx  for the message of a failure; NULL: none. @errors of its file */
RIDGE_NODISCARD ridge_status ridge__catalog_get(ridge_ctx *cx,
                                                const ridge_catalog *catalog,
                                                const shelf *from, size_t item,
                                                void **out);

/** A thing by name: NULL when there is none of that name. @errors of its file */
RIDGE_NODISCARD ridge_status ridge__catalog_lookup(ridge_ctx *cx,
                                                   const ridge_catalog *catalog,
                                                   const shelf *from, const char *name,
                                                   void **out);

#endif
