// SPDX-License-Identifier: Apache-2.0
/**
 * Networks and their NetworkAttachmentDefinitions (NADs) as upstream's operator 1.6 leaves them, with its finalizer,
 * its annotation of the last namespace, its conditions and its CNI configurations (sriov-operator.md A.1-A.3, A.8, A.9,
 * D).
 */
import {
  annotations,
  networkAttachmentDefinitions as nads,
  ovsNetworks,
  sriovIBNetworks,
  sriovNetworks,
  upstreamFinalizers,
  type ResourceType,
} from "@switchyard/api";
import { namespace } from "@switchyard/test-cluster";
import { apiVersionOf, type KubeObject } from "@switchyard/kube";
import { upstream, type NewObject, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";

/** A network, and the NAD that upstream made from it. */
export interface UpstreamNetwork {
  readonly type: ResourceType;
  readonly name: string;
  /** Namespace of the network itself: the operator's namespace, or a tenant's. */
  readonly within: string;
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly resourceName: string;
    readonly networkNamespace?: string;
  };
  /** The CNI configuration, in upstream's order of keys. */
  readonly config: Readonly<Record<string, unknown>>;
}

const head = (name: string) => ({ cniVersion: "1.0.0", name });
const range = { type: "host-local", subnet: "10.56.217.0/24", rangeStart: "10.56.217.171" };

/** At least one network of each kind, in each namespace, and for each field that appears in the CNI configuration. */
export const upstreamNetworks: readonly UpstreamNetwork[] = [
  {
    type: sriovNetworks,
    name: "chained",
    within: namespace,
    spec: {
      resourceName: "fast",
      networkNamespace: "tenant",
      vlan: 100,
      vlanQoS: 3,
      vlanProto: "802.1Q",
      spoofChk: "on",
      trust: "off",
      linkState: "enable",
      minTxRate: 0,
      maxTxRate: 1000,
      capabilities: '{"mac": true, "ips": true}',
      ipam: JSON.stringify(range, undefined, 2),
      metaPlugins: '{"type": "tuning", "sysctl": {"net.core.somaxconn": "500"}}, {"type": "vrf", "vrfname": "blue"}',
    },
    config: {
      ...head("chained"),
      plugins: [
        {
          type: "sriov",
          vlan: 100,
          spoofchk: "on",
          trust: "off",
          vlanQoS: 3,
          vlanProto: "802.1Q",
          min_tx_rate: 0,
          max_tx_rate: 1000,
          capabilities: { mac: true, ips: true },
          link_state: "enable",
          logLevel: "info",
          ipam: range,
        },
        { type: "tuning", sysctl: { "net.core.somaxconn": "500" } },
        { type: "vrf", vrfname: "blue" },
      ],
    },
  },
  {
    type: sriovNetworks,
    name: "beside",
    within: namespace,
    spec: { resourceName: "fast" },
    config: { ...head("beside"), type: "sriov", vlan: 0, vlanQoS: 0, logLevel: "info", ipam: {} },
  },
  {
    type: sriovNetworks,
    name: "self-service",
    within: "tenant",
    spec: { resourceName: "fast", vlan: 7 },
    config: { ...head("self-service"), type: "sriov", vlan: 7, vlanQoS: 0, logLevel: "info", ipam: {} },
  },
  {
    type: sriovIBNetworks,
    name: "infiniband",
    within: namespace,
    spec: {
      resourceName: "ib",
      networkNamespace: "tenant",
      linkState: "auto",
      capabilities: '{"infinibandGUID": true}',
      ipam: '{"type": "dhcp"}',
    },
    config: {
      ...head("infiniband"),
      type: "ib-sriov",
      capabilities: { infinibandGUID: true },
      link_state: "auto",
      ipam: { type: "dhcp" },
    },
  },
  {
    type: ovsNetworks,
    name: "switched",
    within: namespace,
    spec: {
      resourceName: "reps",
      networkNamespace: "tenant",
      bridge: "br-data",
      vlan: 100,
      mtu: 1500,
      trunk: [{ id: 120 }, { minID: 500, maxID: 550 }],
      interfaceType: "netdev",
    },
    config: {
      ...head("switched"),
      type: "ovs",
      bridge: "br-data",
      vlan: 100,
      mtu: 1500,
      trunk: [{ id: 120 }, { minID: 500, maxID: 550 }],
      interface_type: "netdev",
      ipam: {},
    },
  },
];

/** Its NAD does not exist: upstream moved it to a missing namespace and retries for ever (sriov-operator.md M-15). */
export const lostNetwork: UpstreamNetwork = {
  type: sriovNetworks,
  name: "lost",
  within: namespace,
  spec: { resourceName: "fast", networkNamespace: "missing" },
  config: { ...head("lost"), type: "sriov", vlan: 0, vlanQoS: 0, logLevel: "info", ipam: {} },
};

/** A network that was deleted after upstream's operator was stopped. */
export const goingNetwork: UpstreamNetwork = {
  type: ovsNetworks,
  name: "going",
  within: namespace,
  spec: { resourceName: "reps", networkNamespace: "tenant" },
  config: { ...head("going"), type: "ovs", ipam: {} },
};

/** Returns the name and namespace of the NAD. */
export function nadNameOf({ name, within, spec }: UpstreamNetwork): {
  readonly name: string;
  readonly namespace: string;
} {
  return { name, namespace: spec.networkNamespace ?? within };
}

/** Creates the network as a user does, with upstream's marks, and its NAD. */
export async function leaveNetwork(testCluster: UpstreamCluster, network: UpstreamNetwork): Promise<KubeObject> {
  const { type, name, within, spec } = network;
  const place = { name, namespace: within };
  const created = await testCluster.as(upstream.user).create(type, { metadata: place, spec });
  await testCluster.as(upstream.operator).create(nads, renderedByUpstream(network, created));
  return markAsUpstream(testCluster, network, nadNameOf(network).namespace);
}

/**
 * Sets upstream's finalizer, annotation and condition. Only networks in the operator's namespace have the finalizer.
 */
export async function markAsUpstream(
  testCluster: UpstreamCluster,
  { type, name, within }: UpstreamNetwork,
  lastNamespace: string,
): Promise<KubeObject> {
  const operator = testCluster.as(upstream.operator);
  const place = { name, namespace: within };
  const stored = await testCluster.read(type, place);
  if (within === namespace) {
    const finalizers = [...(stored.metadata.finalizers ?? []), upstreamFinalizers.network];
    await operator.update(type, { ...stored, metadata: { ...stored.metadata, finalizers } });
  }
  await operator.patch(type, place, {
    metadata: { annotations: { [annotations.lastNetworkNamespace]: lastNamespace } },
  });
  const ready = {
    type: "Ready",
    status: "True",
    reason: "NetworkReady",
    message: "NetworkAttachmentDefinition is provisioned",
  };
  return operator.applyStatus(type, place, {
    conditions: [{ ...ready, observedGeneration: 1, lastTransitionTime: "2026-10-01T00:00:00Z" }],
  });
}

/**
 * Returns the NAD with all fields that upstream sets, in a create or an update. The network owns the NAD only if both
 * are in the same namespace.
 */
export function renderedByUpstream(network: UpstreamNetwork, { metadata }: KubeObject): NewObject {
  const { type, name, within, spec, config } = network;
  const target = nadNameOf(network);
  const apiVersion = apiVersionOf(type);
  const owner = { apiVersion, kind: type.kind, name, uid: metadata.uid ?? "" };
  return {
    metadata: {
      ...target,
      annotations: {
        [annotations.resourceName]: `openshift.io/${spec.resourceName}`,
        [annotations.ownerRef]: `${type.kind}.${type.group}/${within}/${name}`,
      },
      ...(target.namespace === within && { ownerReferences: [owner] }),
    },
    spec: { config: JSON.stringify(config, undefined, 4) },
  };
}
