// SPDX-License-Identifier: Apache-2.0
/** wantedFromPlugins returns what the plugins of upstream serve on the node. It is a pure function. */
import type { AfxdpNetworkNodeState, AfxdpProvider } from "@switchyard/api";
import { deviceIdOf } from "@switchyard/plan";

/** What is not in it is not wanted. */
export interface WantedFromPlugins {
  /** Whether the plugins run on the node. */
  readonly isDeployed: boolean;
  /** PCI addresses, or names of devices without one. */
  readonly devices: ReadonlySet<string>;
  readonly pools: ReadonlySet<string>;
}

export const nothingWanted: WantedFromPlugins = { isDeployed: false, devices: new Set(), pools: new Set() };

/** A node that the AfxdpOperatorConfig does not select has no state. */
export function wantedFromPlugins(
  provider: AfxdpProvider | undefined,
  state: AfxdpNetworkNodeState | undefined,
): WantedFromPlugins {
  if (provider !== "upstream" || state === undefined) return nothingWanted;
  const interfaces = state.spec?.interfaces ?? [];
  return {
    isDeployed: true,
    devices: new Set(interfaces.map(deviceIdOf)),
    pools: new Set(interfaces.map(({ poolName }) => poolName)),
  };
}
