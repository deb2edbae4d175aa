// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readKubeconfig } from "./kubeconfig.ts";
import { TemporaryDirectory } from "./testing/temporary-directory.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A kubeconfig with one context, whose cluster and user are these. */
function config(cluster: string, user: string): string {
  return `apiVersion: v1
kind: Config
current-context: main
contexts:
- name: main
  context: { cluster: c, user: u, namespace: net }
clusters:
- name: c
  cluster: ${cluster}
users:
- name: u
  user: ${user}
`;
}

const server = "server: https://api:6443";

async function read(cluster: string, user: string) {
  await using directory = await TemporaryDirectory.of({ "k/config": config(cluster, user) });
  const endpoint = await readKubeconfig([directory.file("k/config")]);
  return { ...endpoint, directory: directory.file("k") };
}

describe("readKubeconfig", () => {
  it("reads what is within the file", async () => {
    const data = `certificate-authority-data: ${base64("CA")}, tls-server-name: other, insecure-skip-tls-verify: true`;
    const user = `{ client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")}, token: secret }`;
    expect(await read(`{ ${server}, ${data} }`, user)).toMatchObject({
      server: new URL("https://api:6443"),
      namespace: "net",
      authority: { text: "CA" },
      serverName: "other",
      insecure: true,
      clientCertificate: { text: "CERT" },
      clientKey: { text: "KEY" },
      token: { text: "secret" },
    });
  });

  it("finds files beside it, and what is within goes before", async () => {
    const cluster = `{ ${server}, certificate-authority: ca.crt, certificate-authority-data: ${base64("CA")} }`;
    const user = "{ client-certificate: pki/a.crt, client-key: /etc/a.key, tokenFile: ../token, token: old }";
    const { directory, ...endpoint } = await read(cluster, user);
    expect(endpoint).toMatchObject({
      authority: { text: "CA" },
      clientCertificate: { file: `${directory}/pki/a.crt` },
      clientKey: { file: "/etc/a.key" },
      token: { file: `${directory.slice(0, -2)}/token` },
    });
  });

  it("reads passwords and impersonation", async () => {
    const user =
      "{ username: me, password: 'a:b', as: you, as-uid: '7', as-groups: [x, y], as-user-extra: { k/v: [z] } }";
    expect((await read(`{ ${server} }`, user)).headers).toEqual({
      authorization: `Basic ${base64("me:a:b")}`,
      "impersonate-user": "you",
      "impersonate-uid": "7",
      "impersonate-group": ["x", "y"],
      "impersonate-extra-k%2Fv": ["z"],
    });
  });

  it("reads exec plugins, with what they may know of the cluster", async () => {
    const exec =
      "apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [a, b], provideClusterInfo: true";
    const cluster = `{ ${server}, certificate-authority-data: ${base64("CA")} }`;
    const endpoint = await read(cluster, `{ exec: { ${exec}, env: [{ name: A, value: "1" }] } }`);
    expect(endpoint.exec).toEqual({
      apiVersion: "client.authentication.k8s.io/v1",
      command: `${endpoint.directory}/login`,
      args: ["a", "b"],
      env: { A: "1" },
      cluster: { server: "https://api:6443", "certificate-authority-data": base64("CA") },
    });
  });

  it("takes the context that is asked for, the first of those with the same name, and a user that is nobody", async () => {
    const second = `
contexts:
- { name: main, context: { cluster: other } }
- { name: lab, context: { cluster: lab } }
clusters:
- { name: lab, cluster: { server: "http://lab:8080" } }
`;
    await using directory = await TemporaryDirectory.of({ a: config(`{ ${server} }`, "{ token: t }"), b: second });
    const files = [directory.file("a"), directory.file("b")];
    expect((await readKubeconfig(files)).server.host).toBe("api:6443");
    const lab = await readKubeconfig(files, "lab");
    expect([lab.server.href, lab.namespace, lab.token]).toEqual(["http://lab:8080/", "default", undefined]);
  });

  it.each([
    { problem: "no server", cluster: "{ }", user: "{ }", words: 'cluster "c" has no server' },
    { problem: "a proxy", cluster: `{ ${server}, proxy-url: socks5://x }`, user: "{ }", words: "proxy-url" },
    {
      problem: "a provider of old",
      cluster: `{ ${server} }`,
      user: "{ auth-provider: { name: gcp } }",
      words: "auth-provider",
    },
    {
      problem: "a plugin without command",
      cluster: `{ ${server} }`,
      user: "{ exec: { args: [] } }",
      words: "lacks command",
    },
    {
      problem: "a plugin that asks",
      cluster: `{ ${server} }`,
      user: "{ exec: { command: a, apiVersion: v1, interactiveMode: Always } }",
      words: "wants to ask a person",
    },
    { problem: "no user of that name", cluster: `{ ${server} }`, user: "null", words: 'there is no user "u"' },
  ])("rejects with BadConfig for $problem", async ({ cluster, user, words }) => {
    const failure = read(cluster, user);
    await expect(failure).rejects.toMatchObject({ code: "BadConfig" });
    await expect(failure).rejects.toThrow(words);
  });

  it("rejects with BadConfig for what is no kubeconfig, or not there", async () => {
    await using directory = await TemporaryDirectory.of({ list: "- a", broken: "a: [", empty: "a: b" });
    for (const name of ["list", "broken", "empty", "missing"]) {
      await expect(readKubeconfig([directory.file(name)])).rejects.toMatchObject({ code: "BadConfig" });
    }
  });
});
