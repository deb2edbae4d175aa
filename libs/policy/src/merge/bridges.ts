// SPDX-License-Identifier: Apache-2.0
/**
 * Software bridges of policies: one bridge per PF, named after the PF (sriov-operator.md B.7). Bridges require the
 * feature gate manageSoftwareBridges.
 * Usage: `ovsBridgeFor(policy, nic)`.
 */
import {
  defined,
  type InterfaceStatus,
  type OvsBridge,
  type OvsBridgeConfig,
  type OvsInterfaceConfig,
  type SriovNetworkNodePolicy,
} from "@switchyard/api";
import { policyProblem, type PolicyProblem } from "./policy-problem.ts";

/**
 * Reports whether the policy has a bridge: `bridge: { ovs: {} }` is one, `bridge: {}` is not (sriov-operator.md M-39).
 */
export function wantsBridge(policy: SriovNetworkNodePolicy): boolean {
  return policy.spec.bridge?.ovs !== undefined;
}

/** Returns why the policy's bridge cannot be created; empty if it can be, or if the policy has no bridge. */
export function bridgeProblems(policy: SriovNetworkNodePolicy): readonly PolicyProblem[] {
  if (!wantsBridge(policy)) return [];
  const { eSwitchMode, linkType, externallyManaged } = policy.spec;
  const problems: PolicyProblem[] = [];
  if (eSwitchMode !== "switchdev") {
    const actual = eSwitchMode ? `"${eSwitchMode}"` : 'absent, which means "legacy"';
    const message = `must be "switchdev" if spec.bridge is set, but is ${actual}`;
    problems.push(
      policyProblem(policy, { code: "bridge-needs-switchdev", field: "spec.eSwitchMode", value: eSwitchMode, message }),
    );
  }
  if (linkType && linkType.toLowerCase() !== "eth") {
    const message = `must be "eth" or omitted if spec.bridge is set, but is "${linkType}"`;
    problems.push(
      policyProblem(policy, { code: "bridge-needs-ethernet", field: "spec.linkType", value: linkType, message }),
    );
  }
  if (externallyManaged) {
    const message =
      "must be false if spec.bridge is set: the tool that configures the PF must also add the PF to a bridge";
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

/** Returns the bridge that the policy requests for the PF, with the PF as its uplink; undefined if it requests none. */
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

/** Name of the bridge of a PF: "br-0000_86_00.0" for 0000:86:00.0. */
function bridgeName(pciAddress: string): string {
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

/** The policy's MTU takes precedence over the port's. */
function interfaceConfigOf(port: OvsInterfaceConfig, policyMtu: number | undefined): OvsInterfaceConfig {
  const { type, options, externalIDs, otherConfig } = port;
  const mtuRequest = policyMtu || port.mtuRequest; // 0 means that the policy has no MTU
  return {
    ...(type && { type }),
    ...(isFilled(options) && { options }),
    ...(isFilled(externalIDs) && { externalIDs }),
    ...(isFilled(otherConfig) && { otherConfig }),
    ...defined({ mtuRequest }),
  };
}

function isFilled(fields: object | undefined): boolean {
  return fields !== undefined && Object.keys(fields).length > 0;
}
