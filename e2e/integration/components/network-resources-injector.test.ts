// SPDX-License-Identifier: Apache-2.0
/**
 * The network resources injector of its own project, built from its Go module. The program starts with the arguments
 * that are rendered, answers each rendered probe, and reads what it needs with the rendered rights. It adds resources to
 * the pods that a real API server sends to it.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { goPrograms } from "@switchyard/go-programs";
import { isRecord } from "@switchyard/kube";
import { renderComponents, type Manifest } from "@switchyard/render";
import { issueWebhookCertificate } from "@switchyard/test-cluster";
import {
  eventually,
  findFreePorts,
  missingForPods,
  podCommand,
  spawnGuarded,
  startControlPlane,
  type ControlPlane,
} from "@switchyard/testing";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { workspace } from "../../src/crds/crd-objects.ts";
import { componentSettings, everyComponent, namespace } from "../../src/operator/identity-objects.ts";
import { fieldAt } from "../../src/api/plain-api.ts";

const component = "network-resources-injector";
const secondsToBuild = 900;
/** All settings: the program ends at a flag that it does not know. */
const tls = {
  minVersion: "VersionTLS12",
  cipherSuites: ["ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"],
  curvePreferences: ["X25519", "secp256r1"],
} as const;

const missing = missingForPods();

(missing === undefined ? describe : describe.skip)("the real network resources injector", () => {
  const stack = new AsyncDisposableStack();
  let cluster: ControlPlane;
  let objects: readonly Manifest[];
  let ports: { readonly reviews: number; readonly health: number };
  let log: string;

  beforeAll(async () => {
    const program = join(await goPrograms("network-resources-injector"), "webhook");
    cluster = stack.use(await startControlPlane());
    await cluster.applyCrds(join(workspace, "libs/testing/testdata/multus"));
    const rendered = renderComponents({ sriov: everyComponent }, { ...componentSettings, tls });
    objects = rendered.components.find(({ name }) => name === component)?.objects ?? [];
    await apply([
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: "default" } },
      network("fast", "openshift.io/fast"),
      ...objects.filter(({ kind }) => !kind.endsWith("WebhookConfiguration")),
    ]);
    const [reviews = 0, health = 0] = await findFreePorts(2);
    ports = { reviews, health };
    const certificate = await issueWebhookCertificate();
    await writeFile(join(cluster.dataDir, "tls.crt"), certificate.cert);
    await writeFile(join(cluster.dataDir, "tls.key"), certificate.key, { mode: 0o600 });
    const account = await cluster.podAccount(namespace, String(fieldAt(podSpec(), "serviceAccountName")));
    const { file, args } = podCommand(account, [program, ...argumentsHere()]);
    log = join(cluster.dataDir, "injector.log");
    const injector = spawnGuarded("/usr/bin/env", [`NAMESPACE=${namespace}`, file, ...args], { log });
    stack.defer(() => injector.kill());
    await eventually("the injector answers its readiness probe", () => answers("readinessProbe"), { withinMs: 60_000 });
    await apply(objects.flatMap((object) => registrationsHere(object, certificate.ca)));
  }, secondsToBuild * 1000);

  afterAll(async () => {
    await stack.disposeAsync();
  });

  const apply = async (items: readonly object[]): Promise<void> => {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    await cluster.kubectl(["apply", "-f", "-"], { input });
  };

  function podSpec(): unknown {
    return fieldAt(
      objects.find(({ kind }) => kind === "DaemonSet"),
      ...(["spec", "template", "spec"] as const),
    );
  }

  const container = (field: string): unknown => fieldAt(podSpec(), "containers", 0, field);

  /** The rendered arguments. The ports and the directory of the certificate are those of this machine. */
  function argumentsHere(): readonly string[] {
    const args = container("args");
    return (Array.isArray(args) ? args : []).map((argument: unknown) =>
      String(argument)
        .replace(/^--port=\d+$/, `--port=${ports.reviews}`)
        .replace(/^--health-check-port=\d+$/, `--health-check-port=${ports.health}`)
        .replace("=/etc/tls/", `=${cluster.dataDir}/`),
    );
  }

  /** Whether the program answers a probe as the kubelet wants it. */
  async function answers(probe: string): Promise<boolean> {
    const path = fieldAt(container(probe), "httpGet", "path");
    const answer = await fetch(`http://127.0.0.1:${ports.health}${String(path)}`).catch(() => undefined);
    return answer?.ok === true;
  }

  /** The rendered registration; the API server calls this machine instead of the Service. */
  function registrationsHere(object: Manifest, ca: string): readonly object[] {
    if (!object.kind.endsWith("WebhookConfiguration") || !("webhooks" in object)) return [];
    const webhooks: readonly unknown[] = Array.isArray(object.webhooks) ? object.webhooks : [];
    const caBundle = Buffer.from(ca).toString("base64");
    const clientConfig = { url: `https://127.0.0.1:${ports.reviews}/mutate`, caBundle };
    return [
      {
        ...object,
        webhooks: webhooks.flatMap((webhook) =>
          isRecord(webhook) ? [Object.assign({}, webhook, { clientConfig })] : [],
        ),
      },
    ];
  }

  it.each(["startupProbe", "livenessProbe", "readinessProbe"])("answers its %s", async (probe) => {
    expect(container(probe)).toBeDefined();
    expect(await answers(probe)).toBe(true);
  });

  it("takes all TLS settings, which earlier releases end at", () => {
    expect(
      argumentsHere()
        .filter((argument) => argument.startsWith("--tls-"))
        .map(nameOf),
    ).toEqual([
      ...["--tls-private-key-file", "--tls-cert-file"],
      ...["--tls-min-version", "--tls-cipher-suites", "--tls-curve-preferences"],
    ]);
  });

  it("adds the resource of a network to a pod, and nothing to a pod without one", async () => {
    await eventually("the injector knows the network", async () => {
      const created = await create(pod("with-network", { "k8s.v1.cni.cncf.io/networks": "fast" }));
      await cluster.kubectl(["delete", "pod", "with-network", "--now", "--wait=false"]);
      return fieldAt(created, "spec", "containers", 0, "resources", "requests", "openshift.io/fast") === "1";
    });
    const without = await create(pod("without-network", {}));
    expect(fieldAt(without, "spec", "containers", 0, "resources")).toEqual({});
  });

  it("reads what it needs with the rendered rights", async () => {
    expect(await readFile(log, "utf8")).not.toMatch(/forbidden/i);
  });

  async function create(object: object): Promise<unknown> {
    const text = await cluster.kubectl(["create", "-f", "-", "-o", "json"], { input: JSON.stringify(object) });
    return JSON.parse(text);
  }
});

function nameOf(argument: string): string {
  return argument.split("=")[0] ?? "";
}

function network(name: string, resource: string) {
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace: "default", annotations: { "k8s.v1.cni.cncf.io/resourceName": resource } },
    spec: { config: JSON.stringify({ cniVersion: "1.0.0", name, type: "sriov" }) },
  };
}

function pod(name: string, annotations: Readonly<Record<string, string>>) {
  const spec = { containers: [{ name: "main", image: "example.com/main:1" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default", annotations }, spec };
}
