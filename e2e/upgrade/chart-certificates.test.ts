// SPDX-License-Identifier: Apache-2.0
/**
 * The sources of the webhooks' certificates that the chart offers, on a real API server with the operator of the chart.
 * They are certificates of the operator, certificates as values, Secrets that exist before, and cert-manager. Of
 * cert-manager there are only the kinds, without its controller. Webhook and injector are stand-ins, so nothing serves
 * the certificates.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { sriovOperatorConfigs } from "@switchyard/api";
import { componentKinds } from "@switchyard/render";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { disposeOf } from "../src/dispose-of.ts";
import { certManagerCrds } from "../src/operator/identity-objects.ts";
import { startChartCluster, switchyardChart, type ChartCluster } from "../src/helm/chart-cluster.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { upstream } from "../src/operator/upstream-cluster.ts";

const within = { withinMs: 120_000 };
const { ValidatingWebhookConfiguration, MutatingWebhookConfiguration } = componentKinds;
const servers = {
  operator: { secret: "operator-webhook-cert", service: "operator-webhook-service" },
  injector: { secret: "network-resources-injector-cert", service: "network-resources-injector-service" },
} as const;
type Server = keyof typeof servers;
const serverNames: readonly Server[] = ["operator", "injector"];

interface Pem {
  readonly caCrt: string;
  readonly tlsCrt: string;
  readonly tlsKey: string;
}

let place: ChartCluster;

beforeAll(async () => {
  place = await startChartCluster("helm4");
});
afterAll(async () => {
  await disposeOf(place);
});
afterEach(async () => {
  await place.helm.run(["uninstall", "sriov", "--wait", "--timeout", "120s"]);
  await place.testCluster.kubectl(["delete", "secrets", "--all"]);
});

const hooks = { uninstallTimeoutSeconds: 20 };
const valuesOf = (certificates: object) => ({
  hooks,
  operator: { admissionControllers: { enabled: true, certificates } },
});

function helm(verb: "install" | "upgrade", certificates: object = {}): Promise<string> {
  return place.helm.run([verb, "sriov", switchyardChart, "--wait", "--timeout", "120s"], valuesOf(certificates));
}

async function install(): Promise<void> {
  await helm("install");
  // Not by the chart: each upgrade would apply it, and the webhook, which nothing serves, would refuse that.
  await place.testCluster.as(upstream.user).create(sriovOperatorConfigs, {
    metadata: { name: "default" },
    spec: { enableInjector: true, enableOperatorWebhook: true },
  });
}

async function refusal(certificates: object): Promise<string> {
  const { status, stderr } = await place.helm.try(["upgrade", "sriov", switchyardChart], valuesOf(certificates));
  expect(status).toBe(1);
  return stderr;
}

async function dataOf(secret: string, file: string): Promise<string> {
  const path = `jsonpath={.data['${file.replace(".", "\\.")}']}`;
  const text = await place.testCluster.kubectl(["get", "secret", secret, "-o", path, "--ignore-not-found"]);
  return Buffer.from(text, "base64").toString();
}

/** The CA bundle that the API server uses for a server. */
async function announced(server: Server): Promise<string> {
  const [type, name] =
    server === "operator"
      ? [ValidatingWebhookConfiguration, "sriov-operator-webhook-config"]
      : [MutatingWebhookConfiguration, "network-resources-injector-config"];
  const found = fieldAt(await place.testCluster.find(type, name), "webhooks", 0, "clientConfig", "caBundle");
  return typeof found === "string" ? Buffer.from(found, "base64").toString() : "";
}

const untilAnnounced = (server: Server, authority: string) =>
  eventually(`the CA of ${server}`, async () => (await announced(server)).trim() === authority.trim(), within);

/** Waits until a Secret has another certificate than `other`, and the API server trusts it. */
const newCertificate = (server: Server, other = "") =>
  eventually(
    `a certificate of ${server}`,
    async () => {
      const certificate = await dataOf(servers[server].secret, "tls.crt");
      const bundle = await announced(server);
      const authority = (await dataOf(servers[server].secret, "ca.crt")).trim();
      const isComplete = certificate !== "" && certificate !== other && authority !== "" && bundle.includes(authority);
      return isComplete ? certificate : undefined;
    },
    within,
  );

/** A certificate that is its own CA. */
async function selfSigned(server: Server): Promise<Pem> {
  const name = `${servers[server].service}.${namespace}.svc`;
  const [key, crt] = ["key", "crt"].map((end) => join(place.testCluster.directory, `${server}.${end}`));
  if (key === undefined || crt === undefined) throw new Error("no paths");
  const request = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "365",
  ];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`, "-keyout", key, "-out", crt];
  await promisify(execFile)("openssl", [...request, ...subject]);
  const [tlsCrt, tlsKey] = [await readFile(crt, "utf8"), await readFile(key, "utf8")];
  return { caCrt: tlsCrt, tlsCrt, tlsKey };
}

describe("certificates of the operator", () => {
  it("are renewed when a Secret is deleted, and replaced by certificates as values in Secrets of other names", async () => {
    await install();
    for (const server of serverNames) {
      const first = await newCertificate(server);
      await place.testCluster.kubectl(["delete", "secret", servers[server].secret]);
      await newCertificate(server, first);
    }

    const custom = { enabled: true, operator: await selfSigned("operator"), injector: await selfSigned("injector") };
    const said = await refusal({ custom });
    expect(said).toContain(`Secret ${servers.injector.secret} exists with type kubernetes.io/tls`);
    expect(said).toContain("certificates.secretNames.injector to another name");

    const secretNames = { operator: "my-webhook-cert", injector: "my-injector-cert" };
    await helm("upgrade", { custom, secretNames });
    for (const server of serverNames) await untilAnnounced(server, custom[server].caCrt);
    expect(await dataOf("my-webhook-cert", "tls.crt")).toBe(custom.operator.tlsCrt);
    const mounted = await place.testCluster.kubectl(["get", "daemonset,deployment", "-o", "json"]);
    for (const secret of Object.values(secretNames)) expect(mounted).toContain(`"secretName": "${secret}"`);

    // New values reach the API server, too.
    const next = { ...custom, operator: await selfSigned("operator") };
    await helm("upgrade", { custom: next, secretNames });
    await untilAnnounced("operator", next.operator.caCrt);
  });
});

describe("Secrets that exist before", () => {
  it("are used, followed and never written", async () => {
    const create = async (server: Server): Promise<void> => {
      const { caCrt, tlsCrt, tlsKey } = await selfSigned(server);
      const stringData = { "ca.crt": caCrt, "tls.crt": tlsCrt, "tls.key": tlsKey };
      const metadata = { name: servers[server].secret };
      const secret = { apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata, stringData };
      await place.testCluster.kubectl(["apply", "-f", "-"], secret);
    };
    const version = (server: Server) =>
      place.testCluster.kubectl([
        "get",
        "secret",
        servers[server].secret,
        "-o",
        "jsonpath={.metadata.resourceVersion}",
      ]);
    for (const server of serverNames) await create(server);
    const before = await Promise.all(serverNames.map(version));
    await install();
    for (const server of serverNames) await untilAnnounced(server, await dataOf(servers[server].secret, "ca.crt"));
    expect(await Promise.all(serverNames.map(version))).toEqual(before);

    await create("operator");
    const changed = await version("operator");
    await untilAnnounced("operator", await dataOf(servers.operator.secret, "ca.crt"));
    expect(await version("operator")).toBe(changed);
  });
});

describe("cert-manager", () => {
  it("is refused with a sentence if its kinds are missing, and gets Certificates if they exist", async () => {
    await install();
    const certManager = { enabled: true, generateSelfSigned: true };
    expect(await refusal({ certManager })).toContain("the cluster has no cert-manager (API group cert-manager.io/v1)");
    await place.testCluster.cluster.applyCrds(certManagerCrds);
    await helm("upgrade", { certManager });
    const names = await place.testCluster.kubectl([
      "get",
      "certificates.cert-manager.io,issuers.cert-manager.io",
      "-o",
      "name",
    ]);
    expect(names.trim().split("\n").toSorted()).toEqual([
      "certificate.cert-manager.io/network-resources-injector-cert",
      "certificate.cert-manager.io/operator-webhook-cert",
      "issuer.cert-manager.io/network-resources-injector-selfsigned-issuer",
      "issuer.cert-manager.io/operator-webhook-selfsigned-issuer",
    ]);
  });
});
