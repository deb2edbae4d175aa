// SPDX-License-Identifier: Apache-2.0
/**
 * Software bridges of policies: one per PF, named after it (sriov-operator.md B.7). Only under the gate
 * manageSoftwareBridges.
 * Usage: `ovsBridgeFor(policy, nic)`.
 */
import type {
  InterfaceStatus,
  OvsBridge,
  OvsBridgeConfig,
  OvsInterfaceConfig,
  SriovNetworkNodePolicy,
} from "@switchyard/api";
import { policyProblem, type PolicyProblem } from "./policy-problem.ts";

/** Whether the policy asks for a bridge: `bridge: { ovs: {} }` does, `bridge: {}` does not (M-39). */
export function wantsBridge(policy: SriovNetworkNodePolicy): boolean {
  return policy.spec.bridge?.ovs !== undefined;
}

/** Why the policy cannot have the bridge it asks for; empty where it can, or asks for none. */
export function bridgeProblems(policy: SriovNetworkNodePolicy): readonly PolicyProblem[] {
  if (!wantsBridge(policy)) return [];
  const { eSwitchMode, linkType, externallyManaged } = policy.spec;
  const problems: PolicyProblem[] = [];
  if (eSwitchMode !== "switchdev") {
    const message = `the bridge needs "switchdev", not ${eSwitchMode ? `"${eSwitchMode}"` : "the default, legacy"}`;
    problems.push(
      policyProblem(policy, { code: "bridge-needs-switchdev", field: "spec.eSwitchMode", value: eSwitchMode, message }),
    );
  }
  if (linkType && linkType.toLowerCase() !== "eth") {
    const message = `the bridge needs an Ethernet link: leave linkType out or write "eth", not "${linkType}"`;
    problems.push(
      policyProblem(policy, { code: "bridge-needs-ethernet", field: "spec.linkType", value: linkType, message }),
    );
  }
  if (externallyManaged) {
    const message =
      "whoever configures the PF also puts it into a bridge: leave out either externallyManaged or bridge";
    problems.push(
      policyProblem(policy, {
        code: "bridge-externally-managed",
        field: "spec.externallyManaged",
        value: externallyManaged,
        message,
      }),
    );
  }
  return problems;
}

/** The bridge that the policy wants for this PF, with the PF as its uplink; undefined where it wants none. */
export function ovsBridgeFor(policy: SriovNetworkNodePolicy, nic: InterfaceStatus): OvsBridge | undefined {
  const { bridge, mtu } = policy.spec;
  if (bridge?.ovs === undefined) return undefined;
  const bridgeConfig = bridgeConfigOf(bridge.ovs.bridge ?? {});
  const uplink = interfaceConfigOf(bridge.ovs.uplink?.interface ?? {}, mtu);
  return {
    name: bridgeName(nic.pciAddress),
    ...(isFilled(bridgeConfig) && { bridge: bridgeConfig }),
    uplinks: [
      {
        pciAddress: nic.pciAddress,
        ...(nic.name && { name: nic.name }),
        ...(isFilled(uplink) && { interface: uplink }),
      },
    ],
  };
}

/** Name of the bridge of a PF: 0000:86:00.0 has "br-0000_86_00.0". */
export function bridgeName(pciAddress: string): string {
  return `br-${pciAddress.replaceAll(":", "_")}`;
}

function bridgeConfigOf({ datapathType, externalIDs, otherConfig, failMode }: OvsBridgeConfig): OvsBridgeConfig {
  return {
    ...(datapathType && { datapathType }),
    ...(isFilled(externalIDs) && { externalIDs }),
    ...(isFilled(otherConfig) && { otherConfig }),
    ...(failMode && { failMode }),
  };
}

/** The policy's MTU, where it has one, goes before the port's own. */
function interfaceConfigOf(port: OvsInterfaceConfig, policyMtu: number | undefined): OvsInterfaceConfig {
  const { type, options, externalIDs, otherConfig } = port;
  const mtuRequest = policyMtu || port.mtuRequest; // 0 is no MTU
  return {
    ...(type && { type }),
    ...(isFilled(options) && { options }),
    ...(isFilled(externalIDs) && { externalIDs }),
    ...(isFilled(otherConfig) && { otherConfig }),
    ...(mtuRequest !== undefined && { mtuRequest }),
  };
}

function isFilled(fields: object | undefined): boolean {
  return fields !== undefined && Object.keys(fields).length > 0;
}
