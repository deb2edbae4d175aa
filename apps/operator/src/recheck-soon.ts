// SPDX-License-Identifier: Apache-2.0
/**
 * recheckSoon is the requeue after a conflict: another writer changed the object, and the cache shows the change soon.
 * Usage: `if (isKubeError(error, "Conflict")) return recheckSoon;`
 */
import type { Requeue } from "@switchyard/kube";

export const recheckSoon: Requeue = { afterMs: 100 };
