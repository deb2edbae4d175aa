// SPDX-License-Identifier: Apache-2.0
/** `operator crds apply` against a real API server: with no CRDs, with upstream's, with newer ones, and with each fault. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { annotations, customResourceDefinitions as crds } from "@switchyard/api";
import { connect, listPages, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import { productVersion } from "@switchyard/service";
import { eventually, findWorkspaceRoot, isWrite, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeOlderCrds } from "../../src/crds/older-crds.ts";
import { startOperatorCommand, type CommandEnd } from "../../src/operator/operator-command.ts";

const testMs = 5 * 60_000;
const group = "sriovnetwork.openshift.io";
const states = `sriovnetworknodestates.${group}`;
const shipped = join(findWorkspaceRoot(), "charts/switchyard/crds");

let stack: AsyncDisposableStack;
let cluster: ControlPlane;
let transport: Transport;
let directory = "";
let names: readonly string[] = [];

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  directory = await mkdtemp(join(tmpdir(), "switchyard-crds-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  cluster = stack.use(await startControlPlane({ auditLog: true }));
  transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
  names = (await readdir(shipped)).map((file) => {
    const [, of = "", plural = ""] = /^([^_]+)_(.+)\.yaml$/.exec(file) ?? [];
    return `${plural}.${of}`;
  });
}, testMs);
afterAll(() => stack.disposeAsync(), testMs);

const apply = (...args: readonly string[]): Promise<CommandEnd> =>
  startOperatorCommand(["crds", "apply", "--kubeconfig", cluster.kubeconfig, ...args]).ended;

async function liveCrds(): Promise<ReadonlyMap<string, KubeObject>> {
  const found = new Map<string, KubeObject>();
  for await (const { items } of listPages(transport, { type: crds })) {
    for (const item of items) found.set(item.metadata.name, item);
  }
  return found;
}

/**
 * The API server repeats a removal of objects that failed after a delay that grows to minutes, and at once when the
 * CustomResourceDefinition changes.
 */
async function removeAll(): Promise<void> {
  const live = [...(await liveCrds()).keys()];
  if (live.length > 0) await cluster.kubectl(["delete", "crd", ...live, "--wait=false"]);
  let rounds = 0;
  const areGone = async (): Promise<boolean> => {
    const left = [...(await liveCrds()).keys()];
    if (left.length === 0) return true;
    await cluster.kubectl(["annotate", "crd", ...left, `example.com/round=${rounds++}`, "--overwrite"]);
    return false;
  };
  await eventually("all CustomResourceDefinitions are gone", areGone, { withinMs: 240_000, everyMs: 5_000 });
}

const writesOfCommand = async () =>
  (await cluster.auditEvents()).filter((event) => isWrite(event) && event.userAgent === "switchyard-operator");

const versions = (live: ReadonlyMap<string, KubeObject>) =>
  Object.fromEntries([...live].map(([name, { metadata }]) => [name, metadata.resourceVersion]));

it(
  "installs all CRDs, and sends nothing when it is repeated",
  async () => {
    const first = await apply();
    expect(first).toMatchObject({ code: 0, errors: "" });
    for (const name of names) expect(first.lines).toContain(`${name}: created`);
    expect(first.lines.at(-1)).toBe(`${names.length} CustomResourceDefinitions are established and served`);
    const live = await liveCrds();
    expect([...live.keys()].toSorted()).toEqual(names.toSorted());
    const { length: before } = await writesOfCommand();
    expect(before).toBeGreaterThan(0);

    const second = await apply();
    expect(second).toMatchObject({ code: 0, errors: "" });
    for (const name of names) expect(second.lines.join("\n")).toMatch(new RegExp(`^${name}: (unchanged|exists)`, "m"));
    expect(versions(await liveCrds())).toEqual(versions(live));
    expect(await writesOfCommand()).toHaveLength(before);
  },
  testMs,
);

describe("over CRDs of upstream", () => {
  beforeAll(async () => {
    await removeAll();
    await cluster.applyCrds(await writeOlderCrds(directory));
    await cluster.kubectl(["create", "namespace", "sriov"]);
  }, testMs);

  it(
    "makes them Switchyard's, keeps their UIDs and objects, and status fields are taken afterwards",
    async () => {
      const state = { apiVersion: `${group}/v1`, kind: "SriovNetworkNodeState", metadata: { name: "worker-1" } };
      await cluster.kubectl(["-n", "sriov", "create", "-f", "-"], { input: JSON.stringify(state) });
      const report = async () =>
        transport.request({
          method: "PATCH",
          path: `/apis/${group}/v1/namespaces/sriov/sriovnetworknodestates/worker-1/status`,
          query: { fieldManager: "test", force: true },
          contentType: "application/apply-patch+yaml",
          body: { ...state, status: { bootID: "b0", syncStatus: "Succeeded" } },
        });
      await expect(report()).rejects.toMatchObject({ status: 500, message: expect.stringContaining("bootID") });
      const before = await liveCrds();

      expect(await apply()).toMatchObject({ code: 0, errors: "" });
      const after = await liveCrds();
      for (const [name, { metadata }] of before) expect(after.get(name)?.metadata.uid).toBe(metadata.uid);
      expect(after.get(states)?.metadata.annotations?.[annotations.crdsVersion]).toBe(productVersion);
      expect(after.has(`bridgenetworks.${group}`)).toBe(true);
      expect(await report()).toMatchObject({ status: { bootID: "b0" }, metadata: { name: "worker-1" } });
    },
    testMs,
  );

  it(
    "finishes what a killed run has begun, also when two run at once",
    async () => {
      await removeAll();
      await cluster.applyCrds(await writeOlderCrds(directory));
      const killed = startOperatorCommand(["crds", "apply", "--kubeconfig", cluster.kubeconfig]);
      await killed.said("updated");
      killed.kill("SIGKILL");
      expect((await killed.ended).code).toBeUndefined();
      const both = await Promise.all([apply(), apply()]);
      for (const end of both) expect(end).toMatchObject({ code: 0, errors: "" });
      const live = await liveCrds();
      for (const name of names.filter((it) => it.endsWith(group))) {
        expect(live.get(name)?.metadata.annotations?.[annotations.crdsVersion]).toBe(productVersion);
      }
    },
    testMs,
  );
});

describe("refuses", () => {
  it(
    "to replace the CRD of a newer release, and says so",
    async () => {
      await apply();
      await cluster.kubectl(["annotate", "crd", states, `${annotations.crdsVersion}=99.0.0`, "--overwrite"]);
      const before = versions(await liveCrds());
      const end = await apply();
      expect(end).toMatchObject({ code: 0, errors: "" });
      expect(end.lines).toContain(`${states}: kept; version 99.0.0 is newer than ${productVersion}`);
      expect(versions(await liveCrds())).toEqual(before);
      await cluster.kubectl(["annotate", "crd", states, `${annotations.crdsVersion}-`]);
    },
    testMs,
  );

  it(
    "to change the CRD that belongs to Multus",
    async () => {
      const nad = "network-attachment-definitions.k8s.cni.cncf.io";
      if ((await liveCrds()).has(nad)) await cluster.kubectl(["delete", "crd", nad]);
      await cluster.applyCrds(join(findWorkspaceRoot(), "libs/testing/testdata/multus"));
      const { [nad]: before } = versions(await liveCrds());
      const files = join(directory, "with-multus");
      await cp(join(findWorkspaceRoot(), "libs/testing/testdata/multus"), files, { recursive: true });
      const end = await apply("--directory", files);
      expect(end).toMatchObject({ code: 0, errors: "" });
      expect(end.lines).toContain(`${nad}: exists; not changed, because it belongs to Multus`);
      await cluster.kubectl(["delete", "crd", nad]);
      expect((await apply("--directory", files)).lines).toContain(`${nad}: created`);
      expect(before).toBeDefined();
    },
    testMs,
  );

  it.each([
    {
      what: "another object",
      text: "kind: Secret\napiVersion: v1\nmetadata: {name: a}\n",
      says: "is Secret a; expected",
    },
    { what: "broken YAML", text: "kind: [\n", says: "invalid YAML" },
    { what: "a huge file", text: `# ${"x".repeat(1_100_000)}\n`, says: "bytes; at most 1048576" },
    {
      what: "the kind of another project",
      text: JSON.stringify({
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "things.example.com" },
        spec: { group: "example.com", names: { plural: "things", kind: "Thing" }, versions: [{ name: "v1" }] },
      }),
      says: 'of the group "example.com", which is not Switchyard\'s',
    },
    {
      what: "aliases that grow without bounds",
      text:
        "a: &a [x, x]\n" +
        Array.from({ length: 8 }, (_, i) => `k${i}: &k${i} [${`*${i === 0 ? "a" : `k${i - 1}`}, `.repeat(4)}]`).join(
          "\n",
        ),
      says: "invalid YAML",
    },
  ])(
    "$what in the directory, naming the file, before it changes anything",
    async ({ text, says }) => {
      const files = await mkdtemp(join(directory, "bad-"));
      await cp(shipped, files, { recursive: true });
      await writeFile(join(files, "bad.yaml"), text);
      const before = versions(await liveCrds());
      const end = await apply("--directory", files);
      expect(end).toMatchObject({ code: 1, lines: [] });
      expect(end.errors).toContain(join(files, "bad.yaml"));
      expect(end.errors).toContain(says);
      expect(end.errors.trim().split("\n")).toHaveLength(1);
      expect(versions(await liveCrds())).toEqual(before);
    },
    testMs,
  );

  it(
    "an empty or missing directory",
    async () => {
      const empty = join(directory, "empty");
      await mkdir(empty);
      expect(await apply("--directory", empty)).toMatchObject({ code: 1, errors: expect.stringContaining("no .yaml") });
      const missing = await apply("--directory", join(directory, "missing"));
      expect(missing).toMatchObject({ code: 1, errors: expect.stringContaining("cannot be read: ENOENT") });
    },
    testMs,
  );

  it.each([
    { args: ["crds"], says: "usage: operator crds apply" },
    { args: ["crds", "replace"], says: "usage: operator crds apply" },
    { args: ["crds", "apply", "--nonsense"], says: "unknown flag --nonsense" },
    { args: ["crds", "apply", "--timeout-seconds", "0"], says: "expected a whole number from 1 to 3600" },
    { args: ["crd", "apply"], says: 'unexpected argument "crd"' },
  ])("$args with exit code 64", async ({ args, says }) => {
    const end = await startOperatorCommand(args).ended;
    expect(end).toMatchObject({ code: 64, lines: [], errors: expect.stringContaining(says) });
  });
});

describe("reports", () => {
  it(
    "each CRD that its rights do not allow to change, with the answer of the API server",
    async () => {
      await cluster.applyCrds(await writeOlderCrds(directory));
      const account = "crds-reader";
      await cluster.kubectl(["create", "clusterrole", account, "--verb=get", "--resource=customresourcedefinitions"]);
      await cluster.kubectl(["create", "clusterrolebinding", account, `--clusterrole=${account}`, `--user=${account}`]);
      const kubeconfig = await cluster.clientFor({ user: account, groups: [] });
      const end = await startOperatorCommand(["crds", "apply", "--kubeconfig", kubeconfig]).ended;
      expect(end.code).toBe(1);
      expect(end.errors).toContain(`${states} (${shipped}/${group}_sriovnetworknodestates.yaml): PATCH`);
      expect(end.errors).toContain("Forbidden");
    },
    testMs,
  );

  it(
    "an API server that does not answer, within the time limit, and works when it answers again",
    async () => {
      await using restarted = new AsyncDisposableStack();
      await cluster.stopApiServer();
      restarted.defer(() => cluster.startApiServer());
      const early = await apply("--timeout-seconds", "3");
      expect(early).toMatchObject({
        code: 1,
        errors: expect.stringMatching(/not finished within 3 s: .*ECONNREFUSED/),
      });
      const waiting = startOperatorCommand(["crds", "apply", "--kubeconfig", cluster.kubeconfig]);
      await waiting.said("the API server does not answer; retrying");
      await restarted.disposeAsync();
      expect(await waiting.ended).toMatchObject({ code: 0, errors: "" });
    },
    testMs,
  );

  it(
    "a CRD that is being deleted",
    async () => {
      await cluster.kubectl([
        "patch",
        "crd",
        states,
        "--type=merge",
        "-p",
        '{"metadata":{"finalizers":["example.com/x"]}}',
      ]);
      await cluster.kubectl(["delete", "crd", states, "--wait=false"]);
      const end = await apply("--timeout-seconds", "5");
      expect(end).toMatchObject({ code: 1, errors: expect.stringContaining(`${states} is being deleted`) });
      await cluster.kubectl(["patch", "crd", states, "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
      await cluster.kubectl(["wait", "--for=delete", `crd/${states}`, "--timeout=60s"]).catch(() => "");
      expect(await apply()).toMatchObject({ code: 0, errors: "" });
      await expect(
        transport.request({ method: "GET", path: objectPath(crds, { name: states }) }),
      ).resolves.toBeDefined();
    },
    testMs,
  );
});
