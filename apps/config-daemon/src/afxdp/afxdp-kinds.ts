// SPDX-License-Identifier: Apache-2.0
/**
 * afxdpKinds are the kinds for AF_XDP that the daemon watches, and what it caches of them.
 * Usage: `await using desired = watchDesiredState(options, afxdpKinds);`
 */
import {
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
} from "@switchyard/api";
import { afxdpProviderOf } from "@switchyard/policy";
import { commonSettings, withoutServerFields } from "../watch-desired-state.ts";

export const afxdpKinds = {
  states: { type: afxdpNetworkNodeStates, project: withoutServerFields<AfxdpNetworkNodeState> },
  configs: {
    type: afxdpOperatorConfigs,
    project: (config: AfxdpOperatorConfig) => ({ ...commonSettings(config), provider: afxdpProviderOf(config) }),
  },
};
