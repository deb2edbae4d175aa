// SPDX-License-Identifier: Apache-2.0
/**
 * Software bridges of policies: one bridge per PF, named after the PF (sriov-operator.md B.7; upstream's proposal on software
 * bridges). Bridges require the feature gate manageSoftwareBridges.
 * Usage: `bridgeFor(policy, nic)`.
 */
import {
  defined,
  type InterfaceStatus,
  type LinuxBridge,
  type OvsBridge,
  type OvsBridgeConfig,
  type OvsInterfaceConfig,
  type PolicyLinuxBridge,
  type PolicyOvsBridge,
  type SriovNetworkNodePolicy,
} from "@switchyard/api";
import { policyProblem, type PolicyProblem } from "../policy-problem.ts";

/** The bridge of one PF. */
export type PfBridge =
  { readonly kind: "ovs"; readonly bridge: OvsBridge } | { readonly kind: "linux"; readonly bridge: LinuxBridge };

/**
 * Reports whether the policy has a bridge: `bridge: { ovs: {} }` is one, `bridge: {}` is not (sriov-operator.md M-39).
 */
export function wantsBridge({ spec: { bridge } }: SriovNetworkNodePolicy): boolean {
  return bridge?.ovs !== undefined || bridge?.linux !== undefined;
}

/** Returns why the policy's bridge cannot be created; empty if it can be, or if the policy has no bridge. */
export function bridgeProblems(policy: SriovNetworkNodePolicy): readonly PolicyProblem[] {
  if (!wantsBridge(policy)) return [];
  const { bridge, eSwitchMode, linkType, externallyManaged } = policy.spec;
  const problems: PolicyProblem[] = [];
  if (bridge?.ovs !== undefined && bridge.linux !== undefined) {
    const message = "must have either ovs or linux, not both: a PF can be a port of one bridge only";
    problems.push(policyProblem(policy, { code: "two-bridges", field: "spec.bridge", value: bridge, message }));
  }
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
export function bridgeFor(policy: SriovNetworkNodePolicy, nic: InterfaceStatus): PfBridge | undefined {
  const { bridge: { ovs, linux, disconnectedNetworks = [] } = {}, mtu } = policy.spec;
  const allowed = disconnectedNetworks.length > 0 && { disconnectedNetworks };
  if (ovs !== undefined) return { kind: "ovs", bridge: { ...ovsBridge(ovs, nic, mtu), ...allowed } };
  if (linux === undefined || hasLongName(nic)) return undefined;
  return { kind: "linux", bridge: { ...linuxBridge(linux, nic), ...allowed } };
}

/** Returns why the policy's bridge cannot be created for this PF, although it can be for others. */
export function bridgeNameProblem(policy: SriovNetworkNodePolicy, nic: InterfaceStatus): PolicyProblem | undefined {
  if (policy.spec.bridge?.linux === undefined || !hasLongName(nic)) return undefined;
  const message =
    `no bridge is created for ${nic.pciAddress}, because its name "${bridgeNameOf(nic.pciAddress)}" would be longer ` +
    `than the ${maxLinkNameLength} characters that Linux allows: use an Open vSwitch bridge or remove spec.bridge`;
  return policyProblem(policy, {
    code: "bridge-name-too-long",
    field: "spec.bridge.linux",
    value: policy.spec.bridge.linux,
    message,
  });
}

/** Name of the bridge of a PF: "br-0000_86_00.0" for 0000:86:00.0. */
export function bridgeNameOf(pciAddress: string): string {
  return `br-${pciAddress.replaceAll(":", "_")}`;
}

/** Reports whether bridgeNameOf gives this name to the bridge of a PF. */
export function isPfBridgeName(name: string): boolean {
  return /^br-[0-9a-f]{4,}_[0-9a-f]{2}_[0-9a-f]{2}\.[0-7]$/.test(name);
}

/** IFNAMSIZ without its NUL. Addresses have ASCII characters only. */
const maxLinkNameLength = 15;

function hasLongName({ pciAddress }: InterfaceStatus): boolean {
  return bridgeNameOf(pciAddress).length > maxLinkNameLength;
}

function ovsBridge({ bridge, uplink }: PolicyOvsBridge, nic: InterfaceStatus, mtu: number | undefined): OvsBridge {
  const bridgeConfig = bridgeConfigOf(bridge ?? {});
  const port = interfaceConfigOf(uplink?.interface ?? {}, mtu);
  return {
    name: bridgeNameOf(nic.pciAddress),
    ...(isFilled(bridgeConfig) && { bridge: bridgeConfig }),
    uplinks: [{ ...portOf(nic), ...(isFilled(port) && { interface: port }) }],
  };
}

function linuxBridge({ bridge = {}, uplink }: PolicyLinuxBridge, nic: InterfaceStatus): LinuxBridge {
  const { vlanFiltering, vlanProtocol } = bridge;
  const bridgeConfig = { ...(vlanFiltering && { vlanFiltering }), ...(vlanProtocol && { vlanProtocol }) };
  return {
    name: bridgeNameOf(nic.pciAddress),
    ...(isFilled(bridgeConfig) && { bridge: bridgeConfig }),
    uplinks: [{ ...portOf(nic), ...(uplink && isFilled(uplink) && { uplink }) }],
  };
}

function portOf({ pciAddress, name }: InterfaceStatus): { readonly pciAddress: string; readonly name?: string } {
  return { pciAddress, ...(name && { name }) };
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
