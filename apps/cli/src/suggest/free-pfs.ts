// SPDX-License-Identifier: Apache-2.0
/**
 * freePfs finds the PFs of a cluster on which VFs could be created without disturbing anything. These are supported
 * cards with SR-IOV that nobody has configured, and that the host is known not to use. For all others it says why not.
 */
import type { InterfaceStatus, Node } from "@switchyard/api";
import {
  createRules,
  isGateOn,
  isInNodeSet,
  isListedNic,
  matchesNic,
  policiesSelecting,
  smartNicModelOf,
  statusPfs,
} from "@switchyard/policy";
import { nicPolicyOf, type ClusterObjects } from "../cluster/cluster-objects.ts";

/** A PF of a node, and its name. */
export interface NodePf {
  readonly node: Node;
  readonly name: string;
  readonly pf: InterfaceStatus;
}

export interface SurveyedPf extends NodePf {
  /** Why the PF is left out; undefined if VFs can be created on it. */
  readonly leftOut: string | undefined;
}

/** Returns all PFs of the nodes in the node set that have reported, sorted by node and PCI address. */
export function freePfs(cluster: ClusterObjects): readonly SurveyedPf[] {
  const rules = rulesOf(cluster);
  const nodes = cluster.nodes.filter((node) => isInNodeSet(node, rules));
  return nodes.toSorted(byName).flatMap((node): readonly SurveyedPf[] => {
    const pfs = statusPfs(cluster.states.get(node.metadata.name)?.status);
    const policies = policiesSelecting(node, rules);
    const usesOf = hostUsesIn(node, pfs, cluster);
    return pfs.map((pf) => {
      const policy = policies.find(({ spec }) => matchesNic(spec.nicSelector, pf));
      const leftOut =
        policy === undefined
          ? (cardProblem(pf, cluster) ?? useProblem(usesOf(pf)))
          : `policy ${policy.metadata.name} selects it already`;
      return { node, name: pf.name ?? "", pf, leftOut };
    });
  });
}

/** Returns the nodes of the node set whose daemons have not reported. They can have any PF, and use it. */
export function silentNodes(cluster: ClusterObjects): readonly Node[] {
  const rules = rulesOf(cluster);
  return cluster.nodes.filter((node) => {
    return isInNodeSet(node, rules) && cluster.states.get(node.metadata.name)?.status?.interfaces === undefined;
  });
}

function rulesOf({ policies, pools, operatorConfig }: ClusterObjects) {
  return createRules({ policies, pools, ...(operatorConfig && { operatorConfig }) });
}

function cardProblem(pf: InterfaceStatus, cluster: ClusterObjects): string | undefined {
  const { totalvfs = 0, numVfs = 0 } = pf;
  if (pf.externallyManaged === true) return "another tool creates its VFs";
  if (smartNicModelOf(pf) !== undefined)
    return "it is a SmartNIC, see spec.ovnHardwareOffload of the SriovOperatorConfig";
  if (!isListedNic(pf, nicPolicyOf(cluster).known)) return "its card is not in the list of supported NICs";
  if (totalvfs === 0) return "it supports no VFs; SR-IOV may be disabled in the firmware";
  if (numVfs > 0) return numVfs === 1 ? "it has 1 VF already" : `it has ${numVfs} VFs already`;
  if (!pf.name) return "it has no network interface";
  if (pf.bridge) return `it is a port of bridge ${pf.bridge}`;
  return undefined;
}

function useProblem(uses: readonly string[] | undefined): string | undefined {
  if (uses === undefined) return unknownUse;
  return uses.length === 0 ? undefined : `the host uses it: ${uses.join(", ")}`;
}

/** Why a PF is left out of which it is not known whether the host uses it. */
export const unknownUse = "it is not known whether the host uses it";

/**
 * Returns a function that tells what the host uses a PF for; undefined if that is not known. Daemons report uses with the gate for
 * software bridges, and for AF_XDP. So a status without any use may only mean that nobody looked.
 */
function hostUsesIn(
  { metadata: { name } }: Node,
  pfs: readonly InterfaceStatus[],
  { afxdp, operatorConfig }: ClusterObjects,
): (pf: InterfaceStatus) => readonly string[] | undefined {
  const isReported =
    isGateOn("manageSoftwareBridges", operatorConfig) || pfs.some(({ hostUse = [] }) => hostUse.length > 0);
  const devices = afxdp.states.get(name)?.status?.interfaces ?? [];
  return ({ pciAddress, hostUse = [] }) => {
    const usedBy = devices.find((one) => one.pciAddress === pciAddress)?.usedBy;
    if (!isReported && usedBy === undefined) return undefined;
    return [...new Set([...hostUse, ...(usedBy ?? [])])];
  };
}

function byName(a: Node, b: Node): number {
  return a.metadata.name < b.metadata.name ? -1 : Number(a.metadata.name > b.metadata.name);
}
