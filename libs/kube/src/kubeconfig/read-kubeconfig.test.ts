// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { readKubeconfig } from "./read-kubeconfig.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Returns a kubeconfig with one context, cluster and user. */
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

/** Returns the endpoint and its current credentials. */
async function read(cluster: string, user: string, files: Readonly<Record<string, string>> = {}) {
  await using directory = await TemporaryDirectory.of({ "k/config": config(cluster, user), ...files });
  const { credentials, ...endpoint } = await readKubeconfig([directory.file("k/config")]);
  return { ...endpoint, ...(await credentials?.current()) };
}

describe("readKubeconfig", () => {
  it("reads data in the file", async () => {
    const data = `certificate-authority-data: ${base64("CA")}, tls-server-name: other, insecure-skip-tls-verify: true`;
    const user = `{ client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")}, token: secret }`;
    expect(await read(`{ ${server}, ${data} }`, user)).toMatchObject({
      server: new URL("https://api:6443"),
      namespace: "net",
      serverName: "other",
      insecure: true,
      headers: { authorization: "Bearer secret" },
      tls: { ca: "CA", cert: "CERT", key: "KEY" },
    });
  });

  it("resolves relative paths and prefers data to files", async () => {
    const cluster = `{ ${server}, certificate-authority: ca.crt, certificate-authority-data: ${base64("CA")} }`;
    const user = "{ client-certificate: pki/a.crt, client-key: ../a.key, tokenFile: ../token, token: old }";
    const files = { "k/ca.crt": "OTHER CA", "k/pki/a.crt": "CERT", "a.key": "KEY", token: "new\n" };
    expect(await read(cluster, user, files)).toMatchObject({
      headers: { authorization: "Bearer new" },
      tls: { ca: "CA", cert: "CERT", key: "KEY" },
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

  it("uses the CA certificate of the cluster without a user", async () => {
    const cluster = `{ ${server}, certificate-authority-data: ${base64("CA")} }`;
    const text = config(cluster, "{ }").replace(", user: u", "");
    await using directory = await TemporaryDirectory.of({ config: text });
    const { credentials } = await readKubeconfig([directory.file("config")]);
    expect(await credentials?.current()).toMatchObject({ headers: {}, tls: { ca: "CA" } });
  });

  it("uses the given context, the first of several entries with a name, and no user", async () => {
    const second = `
current-context: lab
contexts:
- { name: main, context: { cluster: other } }
- { name: lab, context: { cluster: lab } }
clusters:
- { name: c, cluster: { server: "https://elsewhere" } }
- { name: lab, cluster: { server: "http://lab:8080" } }
`;
    await using directory = await TemporaryDirectory.of({ a: config(`{ ${server} }`, "{ token: t }"), b: second });
    const files = [directory.file("a"), directory.file("b")];
    expect((await readKubeconfig(files)).server.host).toBe("api:6443");
    const lab = await readKubeconfig(files, "lab");
    expect([lab.server.href, lab.namespace]).toEqual(["http://lab:8080/", "default"]);
    expect((await lab.credentials?.current())?.headers).toEqual({});
  });

  it("ignores errors in entries that it does not use", async () => {
    const text = config(`{ ${server} }`, "{ token: t }").replace("users:", "- name: unfinished\nusers:");
    await using directory = await TemporaryDirectory.of({ config: text });
    expect((await readKubeconfig([directory.file("config")])).server.host).toBe("api:6443");
  });

  it.each([
    { problem: "no server", cluster: "{ }", user: "{ }", words: 'cluster "c" with a server not found' },
    {
      problem: "a server that is no URL",
      cluster: "{ server: 'api:x' }",
      user: "{ }",
      words: "not an http or https URL",
    },
    {
      problem: "a strange proxy",
      cluster: `{ ${server}, proxy-url: 'ftp://u:secret@x' }`,
      user: "{ }",
      words: "proxy-url",
    },
    {
      problem: "a provider of old",
      cluster: `{ ${server} }`,
      user: "{ auth-provider: { name: gcp } }",
      words: 'auth-provider "gcp" of user "u" is not supported',
    },
    {
      problem: "a plugin without command",
      cluster: `{ ${server} }`,
      user: "{ exec: { args: [] } }",
      words: "has no command",
    },
    {
      problem: "a plugin that asks",
      cluster: `{ ${server} }`,
      user: "{ exec: { command: a, apiVersion: v1, interactiveMode: Always } }",
      words: 'has interactiveMode "Always"',
    },
    {
      problem: "groups without a user to impersonate",
      cluster: `{ ${server} }`,
      user: "{ token: t, as-groups: [viewers] }",
      words: "impersonates groups",
    },
    {
      problem: "a certificate that is not there",
      cluster: `{ ${server} }`,
      user: "{ client-certificate: a.crt, client-key: a.key }",
      words: "/k/a.crt",
    },
  ])("rejects with BadConfig for $problem", async ({ cluster, user, words }) => {
    const failure = read(cluster, user);
    await expect(failure).rejects.toMatchObject({ code: "BadConfig" });
    await expect(failure).rejects.toThrow(words);
    await expect(failure).rejects.toThrow("/k/config");
  });

  it.each([
    {
      problem: "another context",
      context: "lab",
      words: 'context "lab" with a cluster not found; the contexts are main',
    },
    { problem: "a missing user", context: "main", words: 'user "u" not found' },
  ])("names the file and the missing entry: $problem", async ({ context, words }) => {
    await using directory = await TemporaryDirectory.of({
      a: config(`{ ${server} }`, "{ }").replace("name: u", "name: v"),
    });
    const failure = readKubeconfig([directory.file("a")], context);
    await expect(failure).rejects.toThrow(`use kubeconfig ${directory.file("a")}: BadConfig (${words}`);
  });

  it.each([
    { name: "list", text: "- a", words: "it must be a YAML mapping" },
    { name: "empty", text: "", words: "it must be a YAML mapping" },
    { name: "broken", text: "a: b\nusers: [", words: "not valid YAML at line 2, column 9" },
    { name: "badly indented", text: "a:\n  b: c\n d: e", words: "at line 3, column 1: the indentation is wrong" },
    { name: "cyclic", text: "users: &a [*a]", words: "an alias has no anchor, contains itself" },
    {
      name: "too deep",
      text: `x:\n  ${"[".repeat(60)}${"]".repeat(60)}`,
      words: "at line 2, column 53: more than 50 levels",
    },
    { name: "endlessly deep", text: "[".repeat(10_000), words: "not valid YAML at line 1" },
    { name: "without lists", text: "a: b\nusers: {u: {}}", words: "at line 2, column 1: users must be a list" },
    { name: "no-context", text: "a: b", words: "current-context is not set" },
    { name: "missing", text: undefined, words: "ENOENT" },
  ])("rejects with BadConfig for a file that is $name", async ({ name, text, words }) => {
    await using directory = await TemporaryDirectory.of(text === undefined ? {} : { [name]: text });
    const failure = readKubeconfig([directory.file(name)]);
    await expect(failure).rejects.toMatchObject({ code: "BadConfig" });
    await expect(failure).rejects.toThrow(`use kubeconfig ${directory.file(name)}: BadConfig (`);
    await expect(failure).rejects.toThrow(words);
  });
});

describe("errors of readKubeconfig", () => {
  /** Two values of 49 levels, the inner one by its alias. */
  const deepAliases = `[&d ${"[".repeat(40)}${"]".repeat(40)}, &e ${"[".repeat(40)}*d${"]".repeat(40)}, ${"[".repeat(40)}*e${"]".repeat(40)}]`;
  const secret = "c2VjcmV0IHRva2VuIG9yIGtleSwgbG9uZyBlbm91Z2gu";

  it.each([
    { where: "beside a YAML mistake", user: `{ token: ${secret}` },
    { where: "taken for an alias", user: `{ token: *${secret} }` },
    { where: "taken for a tag", user: `{ token: !${secret} x, exec: { command: "" } }` },
    {
      where: "in a field that is deeply nested",
      user: `{ x: ${"[".repeat(101)}${"]".repeat(101)}, token: ${secret} }`,
    },
    { where: "below many aliases", user: `{ token: ${secret}, a: ${deepAliases} }` },
    { where: "behind an escape sequence", user: `{ token: "\\${secret}" }` },
    { where: "in an entry that is refused", user: `{ token: ${secret}, as-groups: [x] }` },
    {
      where: "in a field of the wrong type",
      user: `{ client-certificate-data: [${secret}], client-key-data: { a: ${secret} } }`,
    },
    {
      where: "in an id-token that is no JWT",
      user: `{ auth-provider: { name: oidc, config: { id-token: a.${secret}.c } } }`,
    },
  ])("never quote a secret: $where", async ({ user }) => {
    const failure = await read(`{ ${server} }`, user).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: "BadConfig" });
    expect(everything(failure)).not.toContain(secret.slice(0, 12));
  });
});

/** Returns everything that a log can show of an error. */
function everything(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  const fields = Object.getOwnPropertyNames(error).map((name) => everything(Reflect.get(error, name)));
  return fields.join("\n");
}
