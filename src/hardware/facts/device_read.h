/* Devices of data/devices: which chip a PCI id is, how fast its links and NICs are. */
#ifndef RIDGE_DEVICE_READ_H
#define RIDGE_DEVICE_READ_H

#include "ridge/hardware.h"

#include "name_index.h"

enum { DEVICE_ROWS_MOST = 512 };

typedef enum device_row_kind {
    DEVICE_GPU,  /* a PCI id of a chip */
    DEVICE_LINK, /* what one link between two chips of a kind carries, one way */
    DEVICE_NIC   /* the most that a NIC carries, one way, by its PCI id */
} device_row_kind;

typedef struct device_row {
    device_row_kind kind;
    const char *pci_id;    /* "10de:2330"; NULL of a link */
    const char *chip;      /* its name; NULL of a NIC */
    const char *full_name; /* of a NIC */
    ridge_fact rate;       /* bytes a second; of a link or a NIC */
} device_row;

typedef struct device_list {
    device_row *rows;
    size_t n;
} device_list;

/**
 * Add the rows of one file.
 * @param chips  names of the chips
 * @errors E_PARSE with file:line; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__devices_read(ridge_ctx *cx, ridge_node root,
                                                 const name_index *chips,
                                                 device_list *list);

/** @param key  a PCI id, or of a link the chip's name
 *  @return the row, or NULL */
const device_row *ridge__device_find(const device_list *list, device_row_kind kind,
                                     const char *key);

#endif
