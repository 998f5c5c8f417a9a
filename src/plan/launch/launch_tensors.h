/* MaxText's tensors that a custom policy keeps, as operations of a layer. */
#ifndef RIDGE_PLAN_LAUNCH_TENSORS_H
#define RIDGE_PLAN_LAUNCH_TENSORS_H

#include "launch_draft.h"
#include "launch_sheet.h"

/** remat_policy: custom, whose tensors are "device", "remat" or "offload".
 *  @errors E_PARSE other words; E_NOMEM */
RIDGE_NODISCARD ridge_status launch_tensors_read(launch_sheet *sheet,
                                                 ridge_knobs *knobs);
/** The same of a layout's named operations; what it keeps of others is noted. */
RIDGE_NODISCARD ridge_status launch_tensors_write(launch_draft *draft);

#endif
