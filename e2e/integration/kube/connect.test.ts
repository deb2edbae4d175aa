// SPDX-License-Identifier: Apache-2.0
/** Every way to authenticate to a real API server, which answers who the user is. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { connect, isRecord, type Transport } from "@switchyard/kube";
import { startTestProxy } from "@switchyard/kube/testing";
import { startControlPlane, type ControlPlane } from "@switchyard/testing";

const coldStartMs = 10 * 60_000;
const testMs = 60_000;

type Fields = Readonly<Record<string, unknown>>;

describe("connect", () => {
  let cluster: ControlPlane;
  let authority: Fields;
  let files = 0;

  beforeAll(async () => {
    cluster = await startControlPlane();
    authority = {
      "certificate-authority-data": (await entryOf(cluster.kubeconfig, "cluster"))["certificate-authority-data"],
    };
    await cluster.kubectl(["create", "serviceaccount", "daemon"]);
  }, coldStartMs);

  afterAll(() => cluster[Symbol.asyncDispose]());

  /** Writes a new file to the cluster's directory and returns its path. */
  async function write(text: string, mode = 0o600): Promise<string> {
    files++;
    const path = join(cluster.dataDir, `file-${files}`);
    await writeFile(path, text, { mode });
    return path;
  }

  async function connectAs(user: Fields, clusterFields: Fields = authority): Promise<Transport> {
    const config = {
      contexts: [{ name: "main", context: { cluster: "c", user: "u" } }],
      clusters: [{ name: "c", cluster: { server: cluster.server, ...clusterFields } }],
      users: [{ name: "u", user }],
      "current-context": "main",
    };
    return connect({ kubeconfig: await write(JSON.stringify(config)) });
  }

  /** The client-certificate-data and client-key-data of a new user. */
  const certificateOf = async (user: string) => entryOf(await cluster.clientFor({ user, groups: [] }), "user");

  const newToken = async () => (await cluster.kubectl(["create", "token", "daemon"])).trim();

  it(
    "uses a certificate in the kubeconfig or in files, and has that user's rights",
    async () => {
      const user = await certificateOf("alice");
      await using within = await connectAs(user);
      expect(await whoAmI(within)).toBe("alice");
      await expect(within.request({ method: "GET", path: "/api/v1/nodes" })).rejects.toMatchObject({
        code: "Forbidden",
        status: 403,
      });
      const inFiles = {
        "client-certificate": await write(decode(user["client-certificate-data"])),
        "client-key": await write(decode(user["client-key-data"])),
      };
      await using beside = await connectAs(inFiles);
      expect(await whoAmI(beside)).toBe("alice");
    },
    testMs,
  );

  it(
    "uses a token, and the new one as soon as the file is replaced",
    async () => {
      const tokenFile = await write("a token that has expired");
      await using transport = await connectAs({ tokenFile });
      await expect(whoAmI(transport)).rejects.toMatchObject({ code: "Unauthorized", status: 401 });
      await writeFile(tokenFile, await newToken());
      expect(await whoAmI(transport)).toBe("system:serviceaccount:default:daemon");
    },
    testMs,
  );

  it(
    "impersonates another user",
    async () => {
      const admin = await entryOf(cluster.kubeconfig, "user");
      await using transport = await connectAs({ ...admin, as: "bob", "as-groups": ["team"] });
      expect(await whoAmI(transport)).toBe("bob");
    },
    testMs,
  );

  it(
    "uses the certificate of an exec plugin, with new connections if the certificate changes",
    async () => {
      const apiVersion = "client.authentication.k8s.io/v1";
      const answers = await Promise.all(
        ["alice", "bob"].map(async (name) => {
          const user = await certificateOf(name);
          return write(
            JSON.stringify({
              apiVersion,
              kind: "ExecCredential",
              status: {
                clientCertificateData: decode(user["client-certificate-data"]),
                clientKeyData: decode(user["client-key-data"]),
                expirationTimestamp: "2026-01-01T00:00:00Z", // in the past, so the plugin runs for each request
              },
            }),
          );
        }),
      );
      const next = await write(answers[0] ?? "");
      const command = await write(`#!/bin/sh\ncat "$(cat ${next})"\n`, 0o700);
      await using transport = await connectAs({ exec: { apiVersion, command } });
      expect([await whoAmI(transport), await whoAmI(transport)]).toEqual(["alice", "alice"]);
      await writeFile(next, answers[1] ?? "");
      expect([await whoAmI(transport), await whoAmI(transport)]).toEqual(["bob", "bob"]);
    },
    testMs,
  );

  it(
    "trusts only a server with a certificate of its CA for the expected name",
    async () => {
      const user = { token: await newToken() };
      await using stranger = await connectAs(user, {});
      await expect(whoAmI(stranger)).rejects.toMatchObject({ code: "ConnectionLost" });
      await using misnamed = await connectAs(user, { ...authority, "tls-server-name": "elsewhere" });
      await expect(whoAmI(misnamed)).rejects.toMatchObject({ cause: { code: "ERR_TLS_CERT_ALTNAME_INVALID" } });
      await using named = await connectAs(user, { ...authority, "tls-server-name": "kubernetes.default.svc" });
      await using careless = await connectAs(user, { "insecure-skip-tls-verify": true });
      const daemon = "system:serviceaccount:default:daemon";
      expect([await whoAmI(named), await whoAmI(careless)]).toEqual([daemon, daemon]);
    },
    testMs,
  );

  it.each(["http", "socks5"] as const)(
    "connects through a %s proxy at proxy-url, with TLS between client and server",
    async (protocol) => {
      await using proxy = await startTestProxy(protocol);
      const user = await certificateOf("alice");
      await using through = await connectAs(user, { ...authority, "proxy-url": proxy.url });
      expect([await whoAmI(through), await whoAmI(through)]).toEqual(["alice", "alice"]);
      expect(proxy.tunnels.map(({ to }) => to)).toEqual([new URL(cluster.server).host]);
      await using stranger = await connectAs(user, { "proxy-url": proxy.url });
      await expect(whoAmI(stranger)).rejects.toMatchObject({ code: "ConnectionLost" });
    },
    testMs,
  );

  it(
    "connects the example in the README of libs/kube, which writes once and then finds nothing to change",
    async () => {
      const folder = join(import.meta.dirname, "../../../libs/kube");
      const [, example = ""] = /^```ts\n([^]*?)^```$/m.exec(await readFile(join(folder, "README.md"), "utf8")) ?? [];
      const args = ["--disable-warning=ExperimentalWarning", "--input-type=module-typescript", "--eval", example];
      const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
      const run = async () => (await promisify(execFile)(process.execPath, args, { cwd: folder, env })).stdout;
      await cluster.kubectl(["create", "namespace", "apps"]);
      await cluster.kubectl(["label", "namespace", "apps", "team=blue"]);

      expect([await run(), await run()]).toEqual(["apps: written\n", "apps: unchanged\n"]);
      const data = await cluster.kubectl(["get", "configmap", "team", "-n", "apps", "-o", "jsonpath={.data}"]);
      expect(JSON.parse(data)).toEqual({ team: "blue" });
    },
    testMs,
  );
});

async function whoAmI(transport: Transport): Promise<unknown> {
  const review = await transport.request({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  });
  const status = isRecord(review) && isRecord(review["status"]) ? review["status"] : {};
  return isRecord(status["userInfo"]) ? status["userInfo"]["username"] : undefined;
}

/** The only cluster or user of a kubeconfig of the test's control plane, which is written as JSON. */
async function entryOf(kubeconfig: string, member: "cluster" | "user"): Promise<Fields> {
  const config: unknown = JSON.parse(await readFile(kubeconfig, "utf8"));
  const list = isRecord(config) ? config[`${member}s`] : undefined;
  const entry: unknown = Array.isArray(list) ? list[0] : undefined;
  const fields = isRecord(entry) ? entry[member] : undefined;
  if (!isRecord(fields)) throw new TypeError(`${kubeconfig} has no ${member}`);
  return fields;
}

function decode(base64: unknown): string {
  return Buffer.from(String(base64), "base64").toString("utf8");
}
