// SPDX-License-Identifier: Apache-2.0
/**
 * startKubeCluster starts a cluster with one real node. It consists of the control plane on this machine, and a guest
 * of the VM lab with a kubelet, containerd and Multus. The guest pulls images from a registry on this machine.
 */
import { isRecord } from "@switchyard/kube";
import {
  eventually,
  findFreePorts,
  findWorkspaceRoot,
  spawnGuarded,
  startControlPlane,
  type ControlPlane,
} from "@switchyard/testing";
import { bootGuest, type Guest } from "@switchyard/vm-lab";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeDisk } from "./node-disk.ts";
import type { Registry } from "./registry.ts";

interface ContainerOfPods {
  readonly namespace: string;
  /** Label selector of the pods, of which one runs. */
  readonly label: string;
  readonly container: string;
}

/** Name of the node. */
export const nodeName = "node-1";

export interface KubeCluster extends AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly guest: Guest;
  /** Directory for files of the test. It is deleted with the cluster. */
  readonly directory: string;
  /** Runs kubectl as administrator; `object` is its input, for `-f -`. Resolves with its output without white space around it. */
  kubectl(args: readonly string[], object?: unknown): Promise<string>;
  /** Resolves when the node is Ready and has the labels of its roles. */
  nodeIsReady(): Promise<void>;
  /** Lines such as "operator-webhook-x2x4f False". Pods of finished Jobs do not count. */
  unreadyPods(namespace: string): Promise<readonly string[]>;
  /** Runs a command in the guest and returns its output without white space around it. Its exit code is ignored. */
  inGuest(command: string): Promise<string>;
}

const source = "e2e/cluster/node";
/** For `kubectl wait`, while the guest pulls images. */
const kubectlLimitMs = 16 * 60_000;
/** Port of node-proxy in the guest. */
const nodeProxyPort = 8132;
/** Name of the registry in image references. containerd gets all images from the local registry, whatever their registry. */
export const registryName = "registry.test";

/** What the node of a cluster has. */
export interface NodeOptions {
  /** Whether the driver of the PFs has an eswitch, and Open vSwitch runs. False by default: the driver is igb of Linux. */
  readonly hasSwitches?: boolean;
}

/** The kubelet starts when this resolves; the node may not be Ready yet. Needs the programs of the VM lab, and Go for a first build. */
export async function startKubeCluster(
  registry: Registry,
  { hasSwitches = false }: NodeOptions = {},
): Promise<KubeCluster> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "switchyard-cluster-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const disk = await nodeDisk();
  const [proxyPort = 0, multusPort = 0] = await findFreePorts(2);
  const nodeProxySocket = join(directory, "node-proxy.sock");
  stack.use(relay(nodeProxySocket, proxyPort));
  const controlPlane = stack.use(await startControlPlane({ nodeProxySocket }));
  const kubectl = async (args: readonly string[], object?: unknown): Promise<string> => {
    const input = object === undefined ? {} : { input: JSON.stringify(object) };
    return (await controlPlane.kubectl(args, { ...input, limitMs: kubectlLimitMs })).trim();
  };

  for (const object of multusAccess) await kubectl(["apply", "-f", "-"], object);
  const asMultus = await controlPlane.clientFor({ user: multusUser });
  const proxy = ["proxy", `--kubeconfig=${asMultus}`, `--port=${multusPort}`, "--accept-hosts=.*"];
  const multusProxy = spawnGuarded(join(controlPlane.binaries, "kubectl"), proxy, {
    log: join(directory, "multus-proxy.log"),
  });
  stack.defer(() => multusProxy.kill());

  const share = join(directory, "share");
  await mkdir(share);
  await writeNodeFiles(join(share, "node"), controlPlane, { registry: registry.port, multus: multusPort });
  const guest = stack.use(
    await bootGuest({
      boot: "systemd",
      driver: hasSwitches ? "igbsw" : "igb",
      share,
      disks: [disk],
      bootTimeoutMs: 600_000,
      hostForwards: [{ hostPort: proxyPort, guestPort: nodeProxyPort }],
      kernelArguments: ["NetworkManager.service", ...(hasSwitches ? [] : unitsOfOpenVSwitch)].map(
        (unit) => `systemd.mask=${unit}`,
      ),
    }),
  );
  await run(guest, "sh /share/node/usr/sbin/node-setup");
  const owned = stack.move();
  return {
    controlPlane,
    guest,
    directory,
    kubectl,
    async nodeIsReady() {
      const path = `jsonpath={.status.conditions[?(@.type=="Ready")].status}`;
      const isReady = async (): Promise<boolean> => (await kubectl(["get", "node", nodeName, "-o", path])) === "True";
      await eventually("the node is Ready", isReady, { withinMs: 900_000, everyMs: 500 });
      const roles = ["control-plane", "worker"].map((role) => `node-role.kubernetes.io/${role}=`);
      await kubectl(["label", "node", nodeName, ...roles]);
    },
    async unreadyPods(namespace) {
      const path = `{range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}`;
      const running = ["--field-selector=status.phase!=Succeeded", "-o", `jsonpath=${path}`];
      const lines = (await kubectl(["get", "pods", "-n", namespace, ...running])).split("\n");
      return lines.filter((line) => line !== "" && !line.endsWith(" True"));
    },
    inGuest: async (command) => (await guest.exec(command, { timeoutMs: 600_000 })).stdout.trim(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Passes connections to a Unix socket on to a port. The API server only supports Unix sockets, or TLS. */
function relay(socket: string, port: number): Disposable {
  const server = createServer((client) => {
    const target = connect(port, "127.0.0.1");
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
    target.pipe(client).pipe(target);
  }).listen(socket);
  return { [Symbol.dispose]: () => void server.close() };
}

/** They cost time and memory. */
const unitsOfOpenVSwitch = [
  "openvswitch-switch.service",
  "ovs-vswitchd.service",
  "ovsdb-server.service",
  "ovs-record-hostname.service",
];

const multusUser = "multus";
const multusRole = {
  rules: [
    { apiGroups: ["k8s.cni.cncf.io"], resources: ["*"], verbs: ["get", "list", "watch"] },
    { apiGroups: [""], resources: ["pods", "pods/status"], verbs: ["get", "list", "update", "patch"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
};
const rbacGroup = "rbac.authorization.k8s.io";
const rbac = { apiVersion: `${rbacGroup}/v1`, metadata: { name: multusUser } };
const multusAccess = [
  { ...rbac, kind: "ClusterRole", ...multusRole },
  {
    ...rbac,
    kind: "ClusterRoleBinding",
    roleRef: { apiGroup: rbacGroup, kind: "ClusterRole", name: multusUser },
    subjects: [{ apiGroup: rbacGroup, kind: "User", name: multusUser }],
  },
];

/** Writes the tree that node-setup copies over the root disk. */
async function writeNodeFiles(
  tree: string,
  controlPlane: ControlPlane,
  ports: { readonly registry: number; readonly multus: number },
): Promise<void> {
  await cp(join(findWorkspaceRoot(), source), tree, { recursive: true });
  const kubernetes = join(tree, "etc/kubernetes");
  const asNode = await controlPlane.clientFor({ user: `system:node:${nodeName}`, groups: ["system:nodes"] });
  const kubeconfig = await readFile(asNode, "utf8");
  const { port } = new URL(controlPlane.server);
  await writeFile(join(kubernetes, "kubelet.conf"), kubeconfig.replace(controlPlane.server, `https://${host}:${port}`));
  await cp(join(controlPlane.dataDir, "ca.crt"), join(kubernetes, "ca.crt"));
  await writeFile(join(kubernetes, "cluster.env"), `API_PORT=${port}\nNODE_NAME=${nodeName}\n`);
  // Multus gives each request 250 ms, which is not enough for a TLS handshake under emulation. So it gets plain HTTP.
  const forMultus = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server: `http://${host}:${ports.multus}` } }],
    users: [{ name: "test", user: {} }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  };
  await writeFile(join(kubernetes, "multus.conf"), JSON.stringify(forMultus));
  const mirror = `http://${host}:${ports.registry}`;
  const allRegistries = join(tree, "etc/containerd/certs.d/_default");
  await mkdir(allRegistries, { recursive: true });
  const capabilities = 'capabilities = ["pull", "resolve"]';
  await writeFile(join(allRegistries, "hosts.toml"), `server = "${mirror}"\n[host."${mirror}"]\n${capabilities}\n`);
}

/** Address of this machine in the guest. */
const host = "10.0.2.2";

async function run(guest: Guest, command: string): Promise<void> {
  const { code, stderr } = await guest.exec(command, { timeoutMs: 300_000 });
  if (code !== 0) throw new Error(`${command}: exit code ${code}\n${stderr}`);
}

/**
 * killContainer kills the processes of a container from outside, as the kernel does when memory runs out, and waits until the
 * kubelet has started it again. Rejects if there is no such container, or if it does not run again within five minutes.
 */
export async function killContainer(cluster: KubeCluster, which: ContainerOfPods): Promise<void> {
  const before = await containerOf(cluster, which);
  await cluster.inGuest(`/node/bin/ctr -n k8s.io tasks kill -s SIGKILL ${before.id}`);
  const isReplaced = async (): Promise<boolean> => {
    const now = await containerOf(cluster, which);
    return now.id !== before.id && now.isReady;
  };
  await eventually(`container ${which.container} runs again`, isReplaced, { withinMs: 300_000, everyMs: 500 });
}

async function containerOf(cluster: KubeCluster, { namespace, label, container }: ContainerOfPods) {
  const pods: unknown = JSON.parse(await cluster.kubectl(["get", "pods", "-n", namespace, "-l", label, "-o", "json"]));
  const [pod] = isRecord(pods) && Array.isArray(pods["items"]) ? (pods["items"] as unknown[]) : [];
  const status = isRecord(pod) && isRecord(pod["status"]) ? pod["status"] : {};
  const all = (status["containerStatuses"] ?? []) as readonly { name: string; containerID: string; ready: boolean }[];
  const found = all.find(({ name }) => name === container);
  if (found === undefined)
    throw new Error(`no pod with ${label} in ${namespace} has a container ${container} with a status`);
  return { id: found.containerID.replace("containerd://", ""), isReady: found.ready };
}
