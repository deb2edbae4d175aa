// SPDX-License-Identifier: Apache-2.0
/**
 * startGoCluster starts a cluster that upstream's operator manages: its chart is installed by Helm, and its operator and its
 * webhook are the real programs. The API server calls the webhook. Nodes have fake kernels, which a stand-in for its config
 * daemon configures. Switchyard's programs are real, too; they start when Helm replaces the chart.
 */
import { nodes } from "@switchyard/api";
import type { UpstreamOperator } from "@switchyard/go-programs";
import { keepNodesReady, namespace } from "@switchyard/test-cluster";
import { createAuthority } from "@switchyard/testing";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleApp } from "../src/bundle-app.ts";
import { imageName, switchyardImages } from "../src/helm/chart-cluster.ts";
import { prepareHelm, type Helm, type HelmVersion, type Values } from "../src/helm/helm.ts";
import { createWorker, type FakeWorker } from "../src/nodes/fake-worker.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";
import { volumeDirectory, type Container, type Pod } from "../src/pods/container-process.ts";
import { startPodNetwork } from "../src/pods/pod-network.ts";
import { runPods, type ImageContent, type RunningPods } from "../src/pods/run-pods.ts";
import { goDaemon } from "./go-daemon.ts";
import { goNodes, type GoNode } from "./go-nodes.ts";
import { settle } from "./settle.ts";

/** Name of the release. */
export const release = "sriov";
/** Name of the Deployment of both operators, and of its container. */
export const operatorName = `${release}-sriov-network-operator`;

/** The cluster. Disposing it ends all processes. */
export interface GoCluster extends AsyncDisposable {
  readonly testCluster: UpstreamCluster;
  readonly helm: Helm;
  readonly pods: RunningPods;
  readonly workers: ReadonlyMap<string, FakeWorker>;
  /** What the user of upstream's chart has set. */
  readonly values: Values;
}

/** Starts the cluster and waits until each node is in its state. The first call for a version builds Helm. */
export async function startGoCluster(version: HelmVersion, go: UpstreamOperator): Promise<GoCluster> {
  const stack = new AsyncDisposableStack();
  try {
    const socketDirectory = await mkdtemp(join(tmpdir(), "switchyard-pods-"));
    stack.defer(() => rm(socketDirectory, { recursive: true, force: true }));
    const network = stack.use(await startPodNetwork(join(socketDirectory, "proxy.sock")));
    const nodeProxySocket = network.socket;
    const testCluster = stack.use(
      await startUpstreamCluster({ controllerManager: true, crds: false, nodeProxySocket }),
    );
    const { cluster, transport, directory } = testCluster;
    const helm = await prepareHelm(version, { kubeconfig: cluster.kubeconfig, namespace, directory });
    const [operator, webhook] = [
      await bundleApp("apps/operator", directory),
      await bundleApp("apps/webhook", directory),
    ];
    const workers = new Map<string, FakeWorker>();
    for (const { name, nics, hasOvs = false } of goNodes)
      workers.set(name, stack.use(await createWorker(testCluster, name, { nics, managesOvs: hasOvs })));
    await createControlNode(testCluster);
    stack.use(await keepNodesReady(transport, ["control-1", ...workers.keys()]));

    const logs = process.env["SWITCHYARD_TEST_LOGS"] ?? directory;
    await mkdir(logs, { recursive: true });
    const switchyard = switchyardImages({
      operator,
      kernelSocketOf: (node) => join(directory, `${node}.sock`),
      webhook: ({ metadata }) => {
        const tls = volumeDirectory(join(logs, `pod-${metadata.name}.log`), "tls");
        const variables = { TLS_CERT_FILE: join(tls, "tls.crt"), TLS_PRIVATE_KEY_FILE: join(tls, "tls.key") };
        return { command: [process.execPath, webhook], variables };
      },
    });
    const daemons = new Map(goNodes.map((node) => [node.name, daemonOf(testCluster, node, workers)] as const));
    const contentOf = (container: Container, pod: Pod): ImageContent =>
      goImages(go, container) ??
      goDaemonOf(container, daemons.get(pod.spec.nodeName ?? "")) ??
      switchyard(container, pod);
    const pods = stack.use(runPods({ transport, cluster, namespace, directory: logs, contentOf, network }));

    const values = userValues();
    await helm.run(["install", release, go.chart, "--wait", "--timeout", "120s"], values);
    if (version.startsWith("helm3")) await scaleOperator(testCluster);
    await settle(testCluster, workers);
    const owned = stack.move();
    return { testCluster, helm, pods, workers, values, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function createControlNode(testCluster: UpstreamCluster): Promise<void> {
  const labels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/control-plane": "" };
  await testCluster.as(upstream.user).create(nodes, { metadata: { name: "control-1", labels } });
}

/** The programs of upstream's images. */
function goImages(
  { operator, webhook, cleanup, directory }: UpstreamOperator,
  { image, command: given = [] }: Container,
): ImageContent | undefined {
  const name = imageName(image);
  if (given.includes("sriov-network-operator-config-cleanup")) {
    return { command: [cleanup], named: "sriov-network-operator-config-cleanup", directory };
  }
  if (name === "sriov-network-operator") {
    // All pods share the network of this machine, so a second operator could not open the port of the probes.
    const command = [operator, "--health-probe-bind-address=0"];
    return { command, named: "sriov-network-operator", directory };
  }
  if (name === "sriov-network-operator-webhook") return { command: [webhook], named: "webhook", directory };
  return undefined;
}

function goDaemonOf({ image }: Container, daemon: ImageContent | undefined): ImageContent | undefined {
  return imageName(image) === "sriov-network-operator-config-daemon" ? (daemon ?? "stand-in") : undefined;
}

function daemonOf(
  testCluster: UpstreamCluster,
  { name, requests, endsAt }: GoNode,
  workers: ReadonlyMap<string, FakeWorker>,
): ImageContent {
  const kernel = workers.get(name)?.kernel;
  if (kernel === undefined) return "missing";
  return goDaemon({ testCluster, node: name, kernel, ...(requests && { requests }), ...(endsAt && { endsAt }) });
}

/** What a user sets who has certificates of the webhooks, and a NIC that is not in upstream's list. */
function userValues(): Values {
  const authority = createAuthority("webhooks");
  const certificate = (service: string) => {
    const { cert, key } = authority.issueServer([`${service}.${namespace}.svc`]);
    return { caCrt: authority.cert, tlsCrt: cert, tlsKey: key };
  };
  const operator = certificate("operator-webhook-service");
  const injector = certificate("network-resources-injector-service");
  return {
    operator: {
      admissionControllers: { enabled: true, certificates: { custom: { enabled: true, operator, injector } } },
    },
    sriovOperatorConfig: {
      deploy: true,
      logLevel: 2,
      featureGates: { parallelNicConfig: true, manageSoftwareBridges: true },
    },
    supportedExtraNICs: ['Emulated: "8086 10c9 10ca"'],
  };
}

/** Two replicas, of which one waits to lead. Helm 4 would refuse an upgrade, because it owns the field. */
async function scaleOperator(testCluster: UpstreamCluster): Promise<void> {
  const deployment = `deployment/${operatorName}`;
  await testCluster.kubectl(["scale", deployment, "--replicas=2"]);
  await testCluster.kubectl(["rollout", "status", deployment, "--timeout=120s"]);
}
