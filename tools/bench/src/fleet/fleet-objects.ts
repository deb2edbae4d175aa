// SPDX-License-Identifier: Apache-2.0
/** Builds the objects of a simulated fleet. Pure. */
import {
  annotations,
  apiVersion,
  operatorConfigName,
  sriovNetworkNodeStates,
  type DrainAnswer,
  type DrainRequest,
  type Node,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateSpec,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { objectPath } from "@switchyard/kube";
import { inParallel, metadataOnly, type PlainClient } from "../harness/plain-client.ts";
import { interfacesOf, pfName, type FleetProfile } from "./fleet-profile.ts";

/** writePlainStates lets the plain client write the same node states as the operator. */
interface PlainWriting {
  readonly spec: SriovNetworkNodeStateSpec;
  readonly nodes: number;
  /** The number of concurrent writes. */
  readonly connections: number;
  readonly signal?: AbortSignal;
}

/** The namespace of the operator. */
export const operatorNamespace = "switchyard";

/** The namespace in which the plain client writes its own node states. No component acts on them. */
export const plainNamespace = "plain";

export function nodeName(index: number): string {
  return `worker-${index.toString().padStart(5, "0")}`;
}

/** A Node about as large as a real one. The operator's cache must not keep its images and labels. */
export function nodeObject(index: number) {
  const name = nodeName(index);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node-role.kubernetes.io/worker": "",
        "topology.kubernetes.io/region": "north",
        "topology.kubernetes.io/zone": `north-${index % 3}`,
      },
      annotations: { "node.alpha.kubernetes.io/ttl": "0" },
    },
    status: {
      capacity: { cpu: "128", memory: "527945080Ki", pods: "250" },
      nodeInfo: {
        architecture: "amd64",
        bootID: `boot-${index}`,
        containerRuntimeVersion: "containerd://2.1.4",
        kernelVersion: "6.12.0",
        kubeProxyVersion: "",
        kubeletVersion: "v1.36.3",
        machineID: `machine-${index}`,
        operatingSystem: "linux",
        osImage: "Linux",
        systemUUID: `system-${index}`,
      },
      images: Array.from({ length: 30 }, (_, image) => ({
        names: [
          `registry.example/team/image-${image}@sha256:${"0".repeat(64)}`,
          `registry.example/team/image-${image}:1`,
        ],
        sizeBytes: 100_000_000 + image,
      })),
    },
  } satisfies Node & { readonly status: unknown };
}

/**
 * A SriovOperatorConfig that deploys all components. Drains are off, because the steps measure policies and node
 * states.
 */
export const operatorConfig: SriovOperatorConfig = {
  apiVersion,
  kind: "SriovOperatorConfig",
  metadata: { name: operatorConfigName, namespace: operatorNamespace },
  spec: {
    disableDrain: true,
    enableInjector: true,
    enableOperatorWebhook: true,
    featureGates: { metricsExporter: true },
  },
};

/** Policy 0: all VFs of the first PF on every node. */
export function firstPolicy(numVfs: number): SriovNetworkNodePolicy {
  return policy(0, { pfNames: [pfName(0)], numVfs });
}

/** Policies from 1 on: four VFs each of the other PFs, without overlap. */
export function morePolicies(profile: FleetProfile, count: number): readonly SriovNetworkNodePolicy[] {
  const others = profile.pfs - 1;
  const slots = Math.ceil(count / others);
  return Array.from({ length: count }, (_, index) => {
    const slot = Math.floor(index / others);
    const pf = pfName(1 + (index % others));
    const numVfs = Math.max(profile.vfsPerPf, slots * vfsPerPolicy);
    return policy(index + 1, {
      pfNames: [`${pf}#${slot * vfsPerPolicy}-${slot * vfsPerPolicy + vfsPerPolicy - 1}`],
      numVfs,
    });
  });
}

/** The largest number of policies for a profile: a PF has 128 VFs. */
export function mostPolicies({ pfs }: FleetProfile): number {
  return 1 + ((pfs - 1) * 128) / vfsPerPolicy;
}

/** The status that a node's daemon writes, for server-side apply. */
export function reportedState(profile: FleetProfile, namespace: string, index: number): SriovNetworkNodeState {
  return {
    ...emptyState(namespace, index),
    status: { interfaces: interfacesOf(profile, index), syncStatus: "Succeeded", lastSyncError: "" },
  };
}

/** A node state with this spec, for server-side apply. */
export function stateWithSpec(
  namespace: string,
  index: number,
  spec: SriovNetworkNodeStateSpec,
): SriovNetworkNodeState {
  return { ...emptyState(namespace, index), spec };
}

/**
 * The same node state with the metadata that the operator writes, because the API server also spends time on the
 * metadata.
 */
function ownedStateWithSpec(namespace: string, index: number, spec: SriovNetworkNodeStateSpec): SriovNetworkNodeState {
  const owner = { apiVersion, kind: "SriovOperatorConfig", name: operatorConfigName, uid: ownerUid };
  const state = stateWithSpec(namespace, index, spec);
  const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }];
  return { ...state, metadata: { ...state.metadata, ownerReferences, annotations: idleAnnotations } };
}

/** The annotations of a new node state. */
const idleAnnotations = {
  [annotations.desiredState]: "Idle" satisfies DrainRequest,
  [annotations.currentState]: "Idle" satisfies DrainAnswer,
};

/** Owner references have no effect here, because no garbage collector is running. */
const ownerUid = "11111111-2222-3333-4444-555555555555";

const vfsPerPolicy = 4;

function emptyState(namespace: string, index: number) {
  return { apiVersion, kind: "SriovNetworkNodeState", metadata: { name: nodeName(index), namespace } } as const;
}

function policy(index: number, { pfNames, numVfs }: { readonly pfNames: readonly string[]; readonly numVfs: number }) {
  return {
    apiVersion,
    kind: "SriovNetworkNodePolicy",
    metadata: { name: `policy-${index}`, namespace: operatorNamespace },
    spec: {
      resourceName: `resource${index}`,
      nodeSelector: { "node-role.kubernetes.io/worker": "" },
      priority: 50,
      numVfs,
      nicSelector: { pfNames },
      deviceType: "netdevice",
    },
  } as const satisfies SriovNetworkNodePolicy;
}

/** Writes this spec to all of the plain client's node states. Rejects with BenchError `refused`. */
export async function writePlainStates(client: PlainClient, writing: PlainWriting): Promise<void> {
  const { spec, nodes, connections, signal } = writing;
  const indexes = Array.from({ length: nodes }, (_, index) => index);
  await inParallel(indexes, connections, (index) => {
    signal?.throwIfAborted();
    const path = objectPath(sriovNetworkNodeStates, { name: nodeName(index), namespace: plainNamespace });
    return applyPlainly(client, "plain", path, ownedStateWithSpec(plainNamespace, index, spec));
  });
}

/** Applies `body` by server-side apply. Rejects with BenchError `refused`. */
export function applyPlainly(client: PlainClient, manager: string, path: string, body: unknown): Promise<string> {
  return client.request({
    method: "PATCH",
    path: `${path}?fieldManager=${manager}&force=true`,
    contentType: "application/apply-patch+yaml",
    accept: metadataOnly,
    body,
  });
}
