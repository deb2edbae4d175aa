// SPDX-License-Identifier: Apache-2.0
/** findTargets finds the networks that `switchyard verify` is asked to check, and a network in another VLAN for each. */
import type { Network } from "@switchyard/render";
import { targetNamespace } from "@switchyard/render";
import type { Snapshot } from "../diagnosis/snapshot.ts";
import { CliError } from "../terminal.ts";

/** A network whose pods request a VF. */
export interface VerifyTarget {
  readonly network: NetworkName;
  /** Kind of the network: "SriovNetwork". */
  readonly kind: string;
  /** Full name of the resource. */
  readonly resource: string;
  /** VLAN of the network; 0 for none. */
  readonly vlan: number;
  /** A network with the same resource in another VLAN. */
  readonly other?: { readonly network: NetworkName; readonly vlan: number };
}

/** Name of a NetworkAttachmentDefinition. */
export interface NetworkName {
  readonly namespace: string;
  readonly name: string;
}

export interface TargetFlags {
  /** "[NAMESPACE/]NAME" of the network's object. */
  readonly network: string | undefined;
  readonly policy: string | undefined;
  readonly isolatedFrom: string | undefined;
}

type VfNetwork = Exclude<Network, { readonly kind: "AfxdpNetwork" }>;

/** Throws CliError "usage" if not exactly one of network and policy is given, and "unavailable" if it does not exist. */
export function findTargets(snapshot: Snapshot, flags: TargetFlags): readonly VerifyTarget[] {
  const { network, policy, isolatedFrom } = flags;
  if ((network === undefined) === (policy === undefined)) {
    throw new CliError("usage", "give one of --network NAME and --policy NAME");
  }
  const networks = snapshot.cluster.networks.filter((each) => each.kind !== "AfxdpNetwork");
  const chosen =
    network === undefined ? ofPolicy(snapshot, networks, policy ?? "") : [named(snapshot, networks, network)];
  const other = isolatedFrom === undefined ? undefined : named(snapshot, networks, isolatedFrom);
  return chosen.map((each) => toTarget(each, { snapshot, networks, other }));
}

function ofPolicy(snapshot: Snapshot, networks: readonly VfNetwork[], name: string): readonly VfNetwork[] {
  const policy = snapshot.cluster.policies.find(({ metadata }) => metadata.name === name);
  if (policy === undefined) {
    const words = `policy ${name} does not exist in the operator's namespace ${snapshot.namespace}`;
    throw new CliError("unavailable", words);
  }
  const { resourceName } = policy.spec;
  const found = networks.filter(({ spec }) => spec.resourceName === resourceName);
  if (found.length === 0) {
    const words = `no network has the resource ${resourceName} of policy ${name}: create a SriovNetwork with spec.resourceName ${resourceName}`;
    throw new CliError("unavailable", words);
  }
  return found;
}

function named({ namespace, cluster }: Snapshot, networks: readonly VfNetwork[], text: string): VfNetwork {
  const [name = "", home = namespace] = text.split("/").reverse();
  const found = networks.filter(({ metadata }) => metadata.name === name && (metadata.namespace ?? namespace) === home);
  const [first, second] = found;
  if (first !== undefined && second !== undefined) {
    throw new CliError(
      "unavailable",
      `${first.kind} and ${second.kind} ${home}/${name} have the same name; rename one`,
    );
  }
  if (first !== undefined) return first;
  const isAfxdp = cluster.networks.some(({ kind, metadata }) => kind === "AfxdpNetwork" && metadata.name === name);
  const words = isAfxdp
    ? `${name} is an AfxdpNetwork: its pods have no network of the kernel to verify`
    : `network ${name} does not exist in namespace ${home}`;
  throw new CliError("unavailable", words);
}

interface TargetContext {
  readonly snapshot: Snapshot;
  readonly networks: readonly VfNetwork[];
  readonly other: VfNetwork | undefined;
}

function toTarget(network: VfNetwork, { snapshot, networks, other }: TargetContext): VerifyTarget {
  const { resourceName } = network.spec;
  const vlan = vlanOf(network);
  const separate =
    other ??
    networks.find((each) => {
      return each.kind === network.kind && each.spec.resourceName === resourceName && vlanOf(each) !== vlan;
    });
  if (separate !== undefined && separate.spec.resourceName !== resourceName) {
    const words = `network ${separate.metadata.name} has the resource ${separate.spec.resourceName}, not ${resourceName}`;
    throw new CliError("usage", words);
  }
  if (separate !== undefined && vlanOf(separate) === vlan) {
    throw new CliError("usage", `networks ${separate.metadata.name} and ${network.metadata.name} are in the same VLAN`);
  }
  return {
    network: definitionOf(snapshot, network),
    kind: network.kind,
    resource: `${snapshot.resourcePrefix}/${resourceName}`,
    vlan,
    ...(separate !== undefined && {
      other: { network: definitionOf(snapshot, separate), vlan: vlanOf(separate) },
    }),
  };
}

function vlanOf(network: VfNetwork): number {
  return "vlan" in network.spec ? (network.spec.vlan ?? 0) : 0;
}

function definitionOf(snapshot: Snapshot, network: VfNetwork): NetworkName {
  const found = { namespace: targetNamespace(network), name: network.metadata.name };
  const kind = "NetworkAttachmentDefinition";
  const exists = snapshot
    .objectsOf(kind)
    .some(({ namespace, name }) => namespace === found.namespace && name === found.name);
  if (exists || !snapshot.wasListed(kind)) return found;
  const words = `network ${network.metadata.name} has no NetworkAttachmentDefinition in namespace ${found.namespace} yet`;
  throw new CliError("unavailable", `${words}: switchyard doctor says why`);
}
