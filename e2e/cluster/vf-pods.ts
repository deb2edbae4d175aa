// SPDX-License-Identifier: Apache-2.0
/**
 * A user's side of the cluster: a policy, a network, and a Deployment of two pods with a VF each that ping each other.
 */
import { isRecord } from "@switchyard/kube";
import type { KubeCluster } from "./kube-cluster.ts";

/** Namespace of the installation. */
export const namespace = "sriov-network-operator";
/** PCI address of the PF that the policy configures. */
export const pf = "0000:01:00.0";
/** Resource of the VFs, as nodes and pods have it. */
export const resource = "openshift.io/fast";

const group = { apiVersion: "sriovnetwork.openshift.io/v1" };

/** A policy that creates VFs of one PF on all nodes. */
interface VfPolicy {
  readonly name: string;
  /** Interface of the PF. */
  readonly pfName: string;
  readonly numVfs: number;
  /** By default the name of the policy. */
  readonly resourceName?: string;
}

export function policyFor({ name, pfName, numVfs, resourceName = name }: VfPolicy) {
  return {
    ...group,
    kind: "SriovNetworkNodePolicy",
    metadata: { name, namespace },
    spec: {
      nodeSelector: { "node-role.kubernetes.io/worker": "" },
      nicSelector: { pfNames: [pfName] },
      numVfs,
      resourceName,
    },
  };
}

/** The policy of the resource "fast". */
export function policyWith(numVfs: number, name = "fast") {
  return policyFor({ name, pfName: "enp1s0f0", numVfs, resourceName: "fast" });
}

/** A network in namespace default, of the resource with the same name. */
export function networkFor(name: string) {
  return {
    ...group,
    kind: "SriovNetwork",
    metadata: { name, namespace },
    spec: {
      networkNamespace: "default",
      resourceName: name,
      ipam: JSON.stringify({
        type: "host-local",
        dataDir: "/run/vf-addresses",
        ranges: [[{ subnet: "192.168.77.0/24" }]],
      }),
    },
  };
}

export const network = networkFor("fast");

/** Pods with one VF each. */
interface VfDeployment {
  /** Name of the Deployment, and value of the label `app` of its pods. */
  readonly app: string;
  /** Name of the network, in namespace default. */
  readonly network: string;
  /** Resource of the network: "openshift.io/fast". */
  readonly resource: string;
  readonly replicas: number;
}

const fastPods: VfDeployment = { app: "vf", network: "fast", resource, replicas: 2 };

/** `image` has sleep as its entry point, and ping. */
export function deploymentOf(image: string, { app, network, resource, replicas } = fastPods) {
  const vf = { [resource]: "1" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: app, namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: { app } },
      template: {
        metadata: { labels: { app }, annotations: { "k8s.v1.cni.cncf.io/networks": network } },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [{ name: "tools", image, resources: { requests: vf, limits: vf } }],
        },
      },
    },
  };
}

/** Name of the pod that requests no resource itself. */
export const podWithoutRequests = "only-a-network";

/** A pod that names its network, and leaves the request of the resource to the network resources injector. */
export function podOf(image: string) {
  const annotations = { "k8s.v1.cni.cncf.io/networks": "fast" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: podWithoutRequests, namespace: "default", annotations },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "tools", image }] },
  };
}

/** A pod that has its VF. */
export interface VfPod {
  readonly name: string;
  readonly uid: string;
  /** Address of the VF. */
  readonly address: string;
}

/** Returns both pods, or undefined until both are Ready and no other one is left that may have a VF. */
export async function vfPods(cluster: KubeCluster): Promise<readonly [VfPod, VfPod] | undefined> {
  const [first, second] = (await podsOf(cluster, fastPods)) ?? [];
  return first !== undefined && second !== undefined ? [first, second] : undefined;
}

/** Returns the pods of the Deployment, or undefined until all are Ready and no other one is left that may have a VF. */
export async function podsOf(
  cluster: KubeCluster,
  { app, replicas }: Pick<VfDeployment, "app" | "replicas">,
): Promise<readonly VfPod[] | undefined> {
  const list: unknown = JSON.parse(await cluster.kubectl(["get", "pods", "-l", `app=${app}`, "-o", "json"]));
  const items = isRecord(list) && Array.isArray(list["items"]) ? (list["items"] as PodObject[]) : [];
  const running = items.filter(({ status }) => status.phase === "Running" || status.phase === "Pending");
  const ready = running.filter(isReady).map(toVfPod);
  return running.length === replicas && ready.length === replicas ? ready : undefined;
}

/** Sends three packets from one VF to the other. Returns the line with the loss. */
export async function ping(cluster: KubeCluster, [from, to]: readonly [VfPod, VfPod]): Promise<string> {
  const command = ["sh", "-c", `ping -c 3 -W 5 -I net1 ${to.address} || true`];
  const output = await cluster.kubectl(["exec", from.name, "--", ...command]);
  return output.split("\n").find((line) => line.includes("packet loss")) ?? output;
}

// The API server has validated these objects.
interface PodObject {
  readonly metadata: { readonly name: string; readonly uid: string; readonly annotations?: Record<string, string> };
  readonly status: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

function isReady({ status }: PodObject): boolean {
  return status.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false;
}

function toVfPod({ metadata: { name, uid, annotations = {} } }: PodObject): VfPod {
  const networks = JSON.parse(annotations["k8s.v1.cni.cncf.io/network-status"] ?? "[]") as {
    readonly interface: string;
    readonly ips?: readonly string[];
  }[];
  const address = networks.find((each) => each.interface === "net1")?.ips?.[0];
  if (address === undefined) throw new Error(`pod ${name} has no network interface net1`);
  return { name, uid, address };
}
