// SPDX-License-Identifier: Apache-2.0
/**
 * The objects that another operator and dra-driver-sriov leave in a cluster (dra.md 2): the DaemonSet, a DeviceClass, one
 * ResourceSlice for all VFs of a node, and pods with claims.
 */
import { defined, draDriverName, resourceClaims, type ResourceType } from "@switchyard/api";
import { listPages, type KubeObject, type Transport } from "@switchyard/kube";
import type { FakeKubelet } from "@switchyard/kubelet/testing";
import { readAllocation } from "@switchyard/policy";
import { componentKinds, deviceNameOf } from "@switchyard/render";
import type { NewObject } from "../src/operator/upstream-cluster.ts";

/** An allocated claim of one device in the namespace "default". */
interface Claimed {
  readonly name: string;
  readonly device: string;
}

export function foreignClass(name: string, resource: string): object {
  const expression =
    `device.driver == "${draDriverName}" && ` + `device.attributes["k8s.cni.cncf.io"].resourceName == "${resource}"`;
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "DeviceClass",
    metadata: { name, labels: { "sriovnetwork.openshift.io/generated-by": "sriov-network-operator" } },
    spec: { selectors: [{ cel: { expression } }] },
  };
}

export interface ForeignSlice {
  readonly node: string;
  readonly nodeUid: string;
  readonly pf: string;
  readonly vfs: readonly string[];
  /** With the prefix. */
  readonly resource: string;
}

export function foreignSlice({ node, nodeUid, pf, vfs, resource }: ForeignSlice): object {
  const devices = vfs.map((address, vfID) => ({
    name: deviceNameOf(address),
    attributes: {
      [`${draDriverName}/pciAddress`]: { string: address },
      [`${draDriverName}/pfPciAddress`]: { string: pf },
      [`${draDriverName}/vfID`]: { int: vfID },
      "k8s.cni.cncf.io/resourceName": { string: resource },
      "k8s.cni.cncf.io/deviceID": { string: address },
    },
  }));
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: {
      name: `${node}-${draDriverName}-x7k2p`,
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node, uid: nodeUid, controller: true }],
    },
    spec: {
      driver: draDriverName,
      nodeName: node,
      pool: { name: node, generation: 4, resourceSliceCount: 1 },
      devices,
    },
  };
}

/** A pod with a claim of its own for one VF of the node, and the claim. */
export function foreignPod(node: string, name: string): readonly object[] {
  const requests = [{ name: "nic", exactly: { deviceClassName: "fast" } }];
  const metadata = { name, namespace: "default" };
  return [
    { apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata, spec: { devices: { requests } } },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...metadata, name: podOf(name) },
      spec: {
        nodeSelector: { "kubernetes.io/hostname": node },
        resourceClaims: [{ name: "nic", resourceClaimName: name }],
        containers: [{ name: "app", image: "example.com/app:1", resources: { claims: [{ name: "nic" }] } }],
      },
    },
  ];
}

/** The DaemonSet, and the objects that it needs, in the order in which the other operator creates them. */
export function foreignDriver(
  namespace: string,
): readonly { readonly type: ResourceType; readonly object: NewObject }[] {
  const name = "sriov-dra-driver";
  const waiting = `${name}-pod-access`;
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  const roleRef = (kind: string, role: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name: role });
  const rule = (apiGroup: string, resources: readonly string[], verbs: readonly string[]) => ({
    ...{ apiGroups: [apiGroup], resources, verbs },
  });
  const read = ["get", "list", "watch"];
  const rules = [
    rule("resource.k8s.io", ["resourceslices"], ["create", ...read, "update", "patch", "delete"]),
    rule("resource.k8s.io", ["resourceclaims", "deviceclasses"], read),
    rule("resource.k8s.io", ["resourceclaims/status"], ["get", "list", "update", "patch"]),
    rule(draDriverName, ["sriovresourcepolicies", "deviceattributes"], read),
    rule("", ["nodes"], read),
  ];
  const { ServiceAccount, ClusterRole, ClusterRoleBinding, Role, RoleBinding, DaemonSet } = componentKinds;
  const inNamespace = (of: string) => ({ name: of, namespace });
  return [
    { type: ServiceAccount, object: { metadata: inNamespace(name) } },
    { type: ClusterRole, object: { metadata: { name }, rules } },
    { type: ClusterRoleBinding, object: { metadata: { name }, roleRef: roleRef("ClusterRole", name), subjects } },
    {
      type: Role,
      object: { metadata: inNamespace(waiting), rules: [rule("", ["pods"], [...read, "update", "patch"])] },
    },
    { type: RoleBinding, object: { metadata: inNamespace(waiting), roleRef: roleRef("Role", waiting), subjects } },
    {
      type: DaemonSet,
      object: {
        metadata: { ...inNamespace(name), annotations: { "release.openshift.io/version": "" } },
        spec: {
          selector: { matchLabels: { app: name } },
          updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "33%" } },
          template: {
            metadata: { labels: { app: name, component: "network", type: "infra" } },
            spec: foreignPodSpec(name),
          },
        },
      },
    },
  ];
}

/** Image of the other driver. */
export const foreignImage = "example.com/dra-driver-sriov:1";

function foreignPodSpec(name: string): object {
  const field = (variable: string, fieldPath: string) => ({ name: variable, valueFrom: { fieldRef: { fieldPath } } });
  const directories = { "kubelet-plugins": "/var/lib/kubelet/plugins", "host-sys": "/sys", "cni-bin": "/opt/cni/bin" };
  const volumes = Object.entries(directories);
  return {
    hostNetwork: true,
    nodeSelector: { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" },
    tolerations: [{ operator: "Exists" }],
    serviceAccountName: name,
    priorityClassName: "system-node-critical",
    initContainers: [
      {
        name: `${name}-init`,
        image: "example.com/upstream/sriov-network-operator-config-daemon:1.6.0",
        command: ["sriov-network-config-daemon", "wait-for-config", "--pod-name=$(POD_NAME)"],
        env: [field("POD_NAME", "metadata.name"), field("POD_NAMESPACE", "metadata.namespace")],
      },
    ],
    containers: [
      {
        name,
        image: foreignImage,
        command: ["dra-driver-sriov"],
        securityContext: { privileged: true },
        env: [field("NODE_NAME", "spec.nodeName"), { name: "CONFIGURATION_MODE", value: "MULTUS" }],
        volumeMounts: volumes.map(([volume, mountPath]) => ({ name: volume, mountPath })),
      },
    ],
    volumes: volumes.map(([volume, path]) => ({ name: volume, hostPath: { path, type: "DirectoryOrCreate" } })),
  };
}

/** What the kubelet lists of the pods that have the claims. */
export function podsWithClaims({
  node,
  claimed,
}: {
  readonly node: string;
  readonly claimed: readonly Claimed[];
}): NonNullable<FakeKubelet["pods"]> {
  return claimed.map(({ name, device }) => {
    const ofClaim = { claim: name, driver: draDriverName, pool: node, device };
    return { name: podOf(name), namespace: "default", containers: [{ name: "app", devices: [], claimed: [ofClaim] }] };
  });
}

/** A claim as it is now. */
export interface ClaimNow {
  /** The uid of the claim, and its allocation as JSON. */
  readonly identity: string;
  /** Absent without an allocation. */
  readonly device?: string;
}

/** Returns the claims of the namespace "default" by name. Rejects with KubeError. */
export async function readClaims(transport: Transport): Promise<ReadonlyMap<string, ClaimNow>> {
  const found = new Map<string, ClaimNow>();
  for await (const { items } of listPages(transport, { type: resourceClaims, namespace: "default" })) {
    for (const claim of items as readonly (KubeObject & { readonly status?: { readonly allocation?: unknown } })[]) {
      const device = readAllocation(claim)[0]?.device;
      const identity = `${claim.metadata.uid} ${JSON.stringify(claim.status?.allocation)}`;
      found.set(claim.metadata.name, { identity, ...defined({ device }) });
    }
  }
  return found;
}

const podOf = (claim: string) => `pod-of-${claim}`;
