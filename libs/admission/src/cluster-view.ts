// SPDX-License-Identifier: Apache-2.0
/**
 * ClusterView is the state of the cluster that admission looks at. The webhook fills it from its caches, the command line
 * from files.
 * Usage: `admit(review, { namespace, nodes, policies, pools, networks, operatorConfig, nics })`.
 */
import type {
  AfxdpNetworkNodePolicy,
  AfxdpNetworkNodeStateStatus,
  AfxdpOperatorConfig,
  MachineConfigPool,
  SriovNetworkNodePolicy,
  SriovNetworkPoolConfig,
  SriovOperatorConfig,
} from "@switchyard/api";
import { defaultNicPolicy, type AssignedDevices, type NicPolicy, type PodUse } from "@switchyard/policy";
import type { NodeForReview } from "./node-for-review.ts";

/** The objects in the cluster. The object under review may or may not be among them. */
export interface ClusterView {
  /** The namespace of the operator. Policies, pools and the operator's configuration have an effect only there. */
  readonly namespace: string;
  readonly nodes: readonly NodeForReview[];
  /** Those in the operator's namespace. */
  readonly policies: readonly SriovNetworkNodePolicy[];
  /** Those in the operator's namespace. */
  readonly pools: readonly SriovNetworkPoolConfig[];
  /** The object "default" in the operator's namespace. */
  readonly operatorConfig?: SriovOperatorConfig | undefined;
  /** "not-served" if the cluster does not have the kind; undefined if they are unknown. */
  readonly machineConfigPools?: readonly MachineConfigPool[] | "not-served" | undefined;
  readonly nics: NicPolicy;
  /** Whether the cluster is known not to serve resource.k8s.io/v1, as before Kubernetes 1.34. */
  readonly lacksClaims?: boolean | undefined;
  /** The devices that each pod on a node uses; undefined if pods are not known. */
  readonly podsOn?: ((node: string) => readonly PodUse[]) | undefined;
  /** The objects for AF_XDP; undefined if the cluster does not have the kinds. */
  readonly afxdp?: AfxdpView | undefined;
}

/** The objects for AF_XDP in the operator's namespace. */
export interface AfxdpView {
  readonly policies: readonly AfxdpNetworkNodePolicy[];
  /** The object "default". */
  readonly operatorConfig?: AfxdpOperatorConfig | undefined;
  /** The reports of nodes by name. */
  readonly states: ReadonlyMap<string, AfxdpNodeReport>;
}

/** The devices of a node, and which policies have them. */
export interface AfxdpNodeReport extends Pick<AfxdpNetworkNodeStateStatus, "interfaces"> {
  readonly assigned?: AssignedDevices | undefined;
}

/** A cluster without nodes and objects. Only rules that look at the object alone have findings. */
export function emptyView(namespace: string): ClusterView {
  return { namespace, nodes: [], policies: [], pools: [], nics: defaultNicPolicy(undefined) };
}
