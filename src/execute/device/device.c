/* What holds of every device. */
#include "device.h"

void ridge__device_close(ridge__device *d)
{
    if (d != NULL)
        d->ops->close(d);
}
