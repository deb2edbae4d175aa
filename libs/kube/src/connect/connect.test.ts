// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { connect } from "./connect.ts";
import { readInCluster } from "./in-cluster.ts";
import { FakeApiServer } from "../testing/fake-api-server.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

function config(server: URL, namespace: string): string {
  return JSON.stringify({
    "current-context": "main",
    contexts: [{ name: "main", context: { cluster: "c", namespace } }],
    clusters: [{ name: "c", cluster: { server: server.href } }],
  });
}

describe("connect", () => {
  it("uses the given kubeconfig, else the existing files in KUBECONFIG", async () => {
    await using server = await FakeApiServer.start();
    const { server: url } = server.endpoint;
    await using directory = await TemporaryDirectory.of({ a: config(url, "of-a"), b: config(url, "of-b") });
    const env = { KUBECONFIG: `${directory.file("missing")}:${directory.file("a")}` };

    await using named = await connect({ kubeconfig: directory.file("b"), env });
    await using found = await connect({ env });
    await using byFlag = await connect({ kubeconfig: env.KUBECONFIG, env }); // as a service passes it
    expect([named.namespace, found.namespace, byFlag.namespace]).toEqual(["of-b", "of-a", "of-a"]);
    const path = "/api/v1/namespaces/ns/configmaps";
    expect(await found.request({ method: "GET", path })).toMatchObject({ kind: "ConfigMapList" });
  });

  it("rejects with BadConfig without a configuration or if the given file does not exist", async () => {
    await expect(connect({ env: {} })).rejects.toMatchObject({ code: "BadConfig" });
    await expect(connect({ env: { KUBECONFIG: "/nowhere/config" } })).rejects.toMatchObject({ code: "BadConfig" });
  });
});

describe("readInCluster", () => {
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };

  it("uses the service account of the pod", async () => {
    await using directory = await TemporaryDirectory.of({ namespace: "net\n", "ca.crt": "CA", token: "secret\n" });
    const { server, namespace, credentials } = await readInCluster(env, { directory: directory.path });
    expect([server.href, namespace]).toEqual(["https://[fd00::1]/", "net"]);
    const inBrackets = await readInCluster(
      { ...env, KUBERNETES_SERVICE_HOST: "[fd00::1]" },
      { directory: directory.path },
    );
    expect(inBrackets.server.href).toBe(server.href);
    expect(await credentials?.current()).toEqual({ headers: { authorization: "Bearer secret" }, tls: { ca: "CA" } });
  });

  it("follows the API server to another address, and keeps the last one while the address is not known", async () => {
    await using directory = await TemporaryDirectory.of({ namespace: "net", "ca.crt": "CA", token: "secret" });
    let host: string | undefined = "192.0.2.1";
    const { server, credentials } = await readInCluster(env, {
      directory: directory.path,
      findAddress: () =>
        Promise.resolve(
          host === undefined ? undefined : { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: "6443" },
        ),
    });
    const present = async () => {
      credentials?.refused(); // loads again at once, as a minute later
      return (await credentials?.current())?.server?.href;
    };
    expect([server.href, await present()]).toEqual(Array(2).fill("https://192.0.2.1:6443/"));
    host = "192.0.2.9";
    expect(await present()).toBe("https://192.0.2.9:6443/");
    host = undefined; // the kubeconfig of the kubelet is being written
    expect(await present()).toBe("https://192.0.2.9:6443/");
  });

  it("rejects with BadConfig in a pod without a service account", async () => {
    await using directory = await TemporaryDirectory.of();
    await expect(readInCluster(env, { directory: directory.path })).rejects.toMatchObject({ code: "BadConfig" });
  });
});
