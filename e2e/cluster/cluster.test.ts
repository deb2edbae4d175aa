// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the whole product as an administrator and a user of a cluster meet it. Helm installs the chart and the images
 * of this checkout on a node with a real kubelet, real pods and a NIC with real VFs. The parts build on each other.
 */
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { isRecord } from "@switchyard/kube";
import { eventually, findWorkspaceRoot, runProgram } from "@switchyard/testing";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { prepareHelm, type Helm } from "../src/helm/helm.ts";
import { killContainer, nodeName, registryName, startKubeCluster, type KubeCluster } from "./kube-cluster.ts";
import { imageValues, pushNextVersion, pushOwnImages, sriovApps, type OwnImages } from "./own-images.ts";
import { createParts, createTimings } from "./timings.ts";
import { startRegistry, type Registry } from "./registry.ts";
import { pushThirdPartyImages, type ThirdPartyImages } from "./third-party-images.ts";
import {
  deploymentOf,
  namespace,
  network,
  pf,
  ping,
  podOf,
  podWithoutRequests,
  policyWith,
  resource,
  vfPods,
} from "./vf-pods.ts";

/** An idle machine needs seconds, a busy one minutes. */
const within = { withinMs: 900_000, everyMs: 500 };
const limitMs = 1_800_000;
const root = findWorkspaceRoot();
const chart = join(root, "charts/switchyard");
const release = "switchyard";
const operator = {
  namespace,
  label: "name=sriov-network-operator",
  container: "switchyard-sriov-network-operator",
};
const daemon = {
  namespace,
  label: "app=sriov-network-config-daemon",
  container: "sriov-network-config-daemon",
};
const timings = createTimings();

let registry: Registry;
let cluster: KubeCluster;
let helm: Helm;
let own: OwnImages;
let thirdParty: ThirdPartyImages;
const part = createParts(limitMs);

beforeAll(async () => {
  registry = await startRegistry();
  [cluster, own, thirdParty] = await Promise.all([
    timings.during("start of control plane and guest", () => startKubeCluster(registry)),
    timings.during("build and push of images", () => pushOwnImages(registry, sriovApps)),
    pushThirdPartyImages(registry),
  ]);
  const { controlPlane, directory } = cluster;
  helm = await prepareHelm("helm4", { kubeconfig: controlPlane.kubeconfig, namespace, directory });
  await timings.during("node Ready", () => cluster.nodeIsReady());
}, limitMs);

afterAll(async () => {
  timings.print();
  await disposeOf(cluster, registry);
}, 120_000);

function get(kind: string, name: string, path: string): Promise<string> {
  return cluster.kubectl(["get", kind, name, "-n", namespace, "-o", `jsonpath=${path}`]);
}

function nodeField(path: string): Promise<string> {
  return get("node", nodeName, path);
}

const allocatable = (): Promise<string> => nodeField(`{.status.allocatable['${resource.replace(".", "\\.")}']}`);
const apply = (object: unknown): Promise<string> => cluster.kubectl(["apply", "-f", "-"], object);
const numVfs = (): Promise<string> => cluster.inGuest(`cat /sys/bus/pci/devices/${pf}/sriov_numvfs`);
/** Inode numbers of the VFs in sysfs. They change when a VF is created again. */
const vfInodes = (): Promise<string> => cluster.inGuest(`stat -L -c %i /sys/bus/pci/devices/${pf}/virtfn*`);

/** The policy and the operator's configuration are Ready for their current generations. */
async function isConverged(): Promise<boolean> {
  const current = '{.metadata.generation}={.status.observedGeneration} {.status.conditions[?(@.type=="Ready")].status}';
  const found = await Promise.all([
    get("sriovnetworknodepolicy", "fast", current),
    get("sriovoperatorconfig", "default", current),
  ]);
  return found.every((text) => /^(\d+)=\1 True$/.test(text));
}

async function convergesTo(count: number): Promise<void> {
  const holds = async (): Promise<boolean> =>
    (await isConverged()) && (await allocatable()) === `${count}` && (await numVfs()) === `${count}`;
  await eventually(`${count} VFs are allocatable`, holds, within);
}

const bothPods = () => eventually("both pods have VFs", () => vfPods(cluster), within);

/** Steps that `switchyard plan` computes from objects in the cluster and a policy that is not there yet. */
async function planFor(policy: unknown): Promise<{ readonly impact: string; readonly steps: readonly string[] }> {
  const kinds = "nodes,sriovnetworknodestates,sriovoperatorconfigs,sriovnetworkpoolconfigs";
  const objects: unknown = JSON.parse(await cluster.kubectl(["get", kinds, "-A", "-o", "json"]));
  const items = isRecord(objects) && Array.isArray(objects["items"]) ? (objects["items"] as unknown[]) : [];
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: [...items, policy] });
  const cli = [join(root, "apps/cli/src/main.ts"), "plan", "-f", "-", "--node", nodeName, "-o", "json"];
  const { stdout, stderr } = await runProgram(process.execPath, cli, { input });
  if (stdout === "") throw new Error(stderr);
  const plan = JSON.parse(stdout) as { readonly impact: string; readonly steps: readonly { readonly text: string }[] };
  return { impact: plan.impact, steps: plan.steps.map(({ text }) => text) };
}

/** Steps that the daemon's log reports as done since `sinceTime`. */
async function stepsDone(sinceTime: string): Promise<readonly string[]> {
  const logs = await cluster.kubectl([
    "logs",
    "-n",
    namespace,
    "-l",
    daemon.label,
    "--tail=-1",
    `--since-time=${sinceTime}`,
  ]);
  return logs.split("\n").flatMap((line) => {
    if (!line.includes('"step done"')) return [];
    return [(JSON.parse(line) as { readonly step: string }).step];
  });
}

/** Time of the node, since the lab's clocks need not agree. */
const nodeTime = (): Promise<string> => cluster.inGuest("date -u +%Y-%m-%dT%H:%M:%SZ");

/** Images of all containers of the pods in the namespace. */
async function imagesOfPods(): Promise<readonly string[]> {
  const path = "{.items[*].spec.containers[*].image} {.items[*].spec.initContainers[*].image}";
  return (await cluster.kubectl(["get", "pods", "-n", namespace, "-o", `jsonpath=${path}`])).split(/\s+/);
}

/**
 * Returns the protocol and the serial number of the certificate with which the server in the pod with this label `app` answers, or the
 * code of the error.
 */
async function handshake(app: string, maxVersion = "TLSv1.3"): Promise<string> {
  const path = "jsonpath={.items[0].status.podIP}";
  const address = await cluster.kubectl(["get", "pods", "-n", namespace, "-l", `app=${app}`, "-o", path]);
  return cluster.inGuest(
    `node -e '
      const [host, maxVersion] = process.argv.slice(1);
      const socket = require("tls").connect({ host, port: 6443, maxVersion, rejectUnauthorized: false }, () => {
        console.log(socket.getProtocol(), socket.getPeerCertificate().serialNumber);
        socket.end();
      });
      socket.on("error", ({ code }) => console.log(code));' ${address} ${maxVersion}`,
  );
}

function values(images: OwnImages) {
  const hooks = { activeDeadlineSeconds: 900, giveHostsBack: { enabled: true } };
  return { images: imageValues(images, thirdParty), hooks, operator: { tls: { minVersion: "VersionTLS13" } } };
}

describe("an installation", () => {
  part("is ready after helm install and a SriovOperatorConfig", async () => {
    await timings.during("install to ready", async () => {
      const options = ["--create-namespace", "--wait", "--timeout", "15m"];
      await helm.run(["install", release, chart, ...options], values(own));
      await apply({
        apiVersion: "sriovnetwork.openshift.io/v1",
        kind: "SriovOperatorConfig",
        metadata: { name: "default", namespace },
        spec: { enableOperatorWebhook: true, enableInjector: true },
      });
      const ready = ["wait", "-n", namespace, "--for=condition=Ready", "sriovoperatorconfig/default"];
      await cluster.kubectl([...ready, "--timeout=15m"]);
      await eventually("all pods are Ready", async () => (await cluster.unreadyPods(namespace)).length === 0, within);
    });
    expect((await imagesOfPods()).filter((image) => !image.includes("@sha256:"))).toEqual([]);
  });

  part("creates the VFs of a policy as switchyard plan predicts, and pods get them and reach each other", async () => {
    const planned = await planFor(policyWith(3));
    const since = await nodeTime();
    await timings.during("policy to allocatable", async () => {
      await apply(policyWith(3));
      await convergesTo(3);
    });
    expect(planned.impact).toBe("none");
    expect(await stepsDone(since)).toEqual(planned.steps);

    await timings.during("pods Ready", async () => {
      await apply(network);
      await apply(deploymentOf(`${registryName}/${thirdParty.tools}`));
      await bothPods();
    });
    expect(await ping(cluster, await bothPods())).toContain(" 0% packet loss");
  });

  part("gives a VF to a pod that only names its network: the injector adds the resource", async () => {
    await apply(podOf(`${registryName}/${thirdParty.tools}`));
    const field = (path: string): Promise<string> =>
      cluster.kubectl(["get", "pod", podWithoutRequests, "-o", `jsonpath=${path}`]);
    const requests = await field(`{.spec.containers[0].resources.requests['${resource.replace(".", "\\.")}']}`);
    expect(requests).toBe("1");
    const isReady = async (): Promise<boolean> =>
      (await field('{.status.conditions[?(@.type=="Ready")].status}')) === "True";
    await eventually("the pod has its VF", isReady, within);
    await cluster.kubectl(["delete", "pod", podWithoutRequests]);
  });

  part("serves webhook and injector with the TLS version of the chart's values, and refuses an older one", async () => {
    for (const app of ["operator-webhook", "network-resources-injector"]) {
      expect(await handshake(app)).toMatch(/^TLSv1\.3 \w+$/);
      expect(await handshake(app, "TLSv1.2")).toMatch(/PROTOCOL_VERSION$/);
    }
  });

  part("rejects a bad policy with the reason", async () => {
    await expect(apply(policyWith(99, "bad"))).rejects.toThrow(
      `spec.numVfs: 99 VFs requested, but ${pf} supports at most 7 on ${nodeName}`,
    );
  });

  part("drains the node before it changes VFs that pods use, and the pods return", async () => {
    const before = (await bothPods()).map(({ uid }) => uid);
    const planned = await planFor(policyWith(4));
    const since = await nodeTime();
    await timings.during("drain, more VFs, pods back", async () => {
      await apply(policyWith(4));
      await convergesTo(4);
      await bothPods();
    });
    expect(planned.impact).toBe("drain");
    expect(await stepsDone(since)).toEqual(planned.steps);
    const pods = await bothPods();
    expect(pods.filter(({ uid }) => before.includes(uid))).toEqual([]);
    expect(await ping(cluster, pods)).toContain(" 0% packet loss");
    const reasons = async (): Promise<readonly string[]> => {
      const path = "jsonpath={.items[*].reason}";
      return (await cluster.kubectl(["get", "events", "-n", namespace, "-o", path])).split(" ");
    };
    const expected = ["DrainStarted", "DrainCompleted", "DrainReleased"];
    await eventually("events tell of the drain", async () => {
      const found = await reasons();
      return expected.every((reason) => found.includes(reason));
    });
  });

  part("converges if the operator and the daemon are killed during a change", async () => {
    await timings.during("change with kills of operator and daemon", async () => {
      await apply(policyWith(5));
      await killContainer(cluster, operator);
      await killContainer(cluster, daemon);
      await convergesTo(5);
    });
    expect(await ping(cluster, await bothPods())).toContain(" 0% packet loss");
  });

  part("upgrades to another version under running pods without touching VFs", async () => {
    const before = { inodes: await vfInodes(), pods: await bothPods(), node: await nodeField("{.spec}") };
    const next = await pushNextVersion(registry, own);
    const since = await nodeTime();
    await timings.during("helm upgrade", async () => {
      await helm.run(["upgrade", release, chart, "--wait", "--timeout", "15m"], values(next));
      const runs = async (): Promise<boolean> => {
        const images = await imagesOfPods();
        const has = (digest: string): boolean => images.some((image) => image.endsWith(digest));
        return Object.values(next).every(has) && !Object.values(own).some(has);
      };
      await eventually("all components have the new images", runs, within);
      await eventually("all pods are Ready", async () => (await cluster.unreadyPods(namespace)).length === 0, within);
      await convergesTo(5);
    });
    expect({ inodes: await vfInodes(), pods: await bothPods(), node: await nodeField("{.spec}") }).toEqual(before);
    expect(await stepsDone(since)).toEqual([]);
    expect(await ping(cluster, before.pods)).toContain(" 0% packet loss");
  });

  part("renews the certificate of the webhook", async () => {
    const serial = async (): Promise<string> => {
      const text = await get("secret", "operator-webhook-cert", "{.data['tls\\.crt']}");
      return new X509Certificate(Buffer.from(text, "base64")).serialNumber;
    };
    const old = await serial();
    await cluster.kubectl(["delete", "secret", "operator-webhook-cert", "-n", namespace]);
    await eventually("there is another certificate", async () => (await serial()) !== old, within);
    await timings.during("renewal of the certificate, until it is served", async () => {
      const current = await serial();
      const isServed = async (): Promise<boolean> => (await handshake("operator-webhook")) === `TLSv1.3 ${current}`;
      await eventually("the webhook serves it", isServed, within);
    });
    await expect(apply(policyWith(99, "bad"))).rejects.toThrow("supports at most 7");
  });

  part("has the VFs again after a hard reset of the node, and the pods return", async () => {
    await timings.during("boot to allocatable", async () => {
      await cluster.guest.reboot({ hard: true });
      await eventually("the VFs are created", async () => (await numVfs()) === "5", within);
      await convergesTo(5);
    });
    await timings.during("pods Ready after the boot", async () => {
      await eventually(
        "both pods reach each other",
        async () => {
          const pods = await vfPods(cluster);
          return pods !== undefined && (await ping(cluster, pods)).includes(" 0% packet loss");
        },
        within,
      );
    });
  });

  part(
    "lists beside the daemon what config-daemon cleanup would do, in a pod that an administrator creates by hand",
    async () => {
      const before = await vfInodes();
      await apply(cleanupPod(`ghcr.io/switchyard/switchyard-config-daemon@${own["config-daemon"]}`, "--dry-run"));
      const phase = (): Promise<string> => get("pod", "cleanup", "{.status.phase}");
      await eventually("the pod ends", async () => ["Succeeded", "Failed"].includes(await phase()), within);
      const log = await cluster.kubectl(["logs", "-n", namespace, "cleanup"]);
      expect([await phase(), log]).toEqual(["Succeeded", expect.stringMatching(/^(?:would .*\n)*would release .*\n/)]);
      expect(await vfInodes()).toBe(before);
      await cluster.kubectl(["delete", "pod", "cleanup", "-n", namespace]);
    },
  );

  part("leaves CRDs and the objects of users when it is uninstalled, and gives the host back", async () => {
    const uids = (): Promise<string> => {
      const kinds = "sriovnetworknodepolicies,sriovnetworks,network-attachment-definitions";
      return cluster.kubectl(["get", kinds, "-A", "-o", "jsonpath={.items[*].metadata.uid}"]);
    };
    const crds = (): Promise<string> => cluster.kubectl(["get", "crds", "-o", "jsonpath={.items[*].metadata.uid}"]);
    const before = { uids: await uids(), crds: await crds() };
    await cluster.kubectl(["delete", "deployment", "vf", "--cascade=foreground", "--timeout=15m"]);
    await timings.during("helm uninstall, with the host given back", async () => {
      await helm.run(["uninstall", release, "--wait", "--timeout", "30m"]);
    });
    const kinds = "daemonsets,deployments,sriovoperatorconfigs,jobs";
    const left = (): Promise<string> => cluster.kubectl(["get", kinds, "-n", namespace, "-o", "name"]);
    await eventually("nothing of the installation is left", async () => (await left()) === "", within);
    expect({ uids: await uids(), crds: await crds() }).toEqual(before);
    expect(await numVfs()).toBe("0");
    const rules = "find /etc/udev/rules.d /run/udev/rules.d /etc/systemd/system -type f";
    expect(await cluster.inGuest("find /etc/sriov-operator -type f")).toBe("");
    expect(await cluster.inGuest(`${rules} | xargs -r grep -li -e switchyard -e sriov`)).toBe("");
    const record = ["get", "configmap", "-n", namespace, "-o", "name"];
    expect(await cluster.kubectl(record)).not.toContain("switchyard-hosts-to-give-back");
  });

  part("has nothing to do for config-daemon cleanup afterwards", async () => {
    await apply(cleanupPod(`ghcr.io/switchyard/switchyard-config-daemon@${own["config-daemon"]}`, "--dry-run"));
    const phase = (): Promise<string> => get("pod", "cleanup", "{.status.phase}");
    await eventually("the pod ends", async () => ["Succeeded", "Failed"].includes(await phase()), within);
    const log = await cluster.kubectl(["logs", "-n", namespace, "cleanup"]);
    expect([await phase(), log.trim()]).toEqual(["Succeeded", "nothing to do"]);
  });
});

/** Runs `config-daemon cleanup` on the node, as docs/guide/operate.md describes. */
function cleanupPod(image: string, ...more: readonly string[]) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "cleanup", namespace },
    spec: {
      nodeName,
      hostNetwork: true,
      restartPolicy: "Never",
      containers: [
        {
          name: "cleanup",
          image,
          args: ["cleanup", "--host-root", "/host", ...more],
          securityContext: { privileged: true },
          volumeMounts: [{ name: "host", mountPath: "/host" }],
        },
      ],
      volumes: [{ name: "host", hostPath: { path: "/" } }],
    },
  };
}
