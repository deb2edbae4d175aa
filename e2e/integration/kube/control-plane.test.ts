// SPDX-License-Identifier: Apache-2.0
/** The test API server of libs/testing, which all other integration tests use. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ensureBinaries,
  eventually,
  isWrite,
  lendControlPlanes,
  startControlPlane,
  type ControlPlane,
} from "@switchyard/testing";

// The first run on a machine may have to build the binaries.
const coldStartMs = 10 * 60_000;
const testMs = 3 * 60_000;

let binaries: string;
beforeAll(async () => {
  delete process.env["SWITCHYARD_CONTROL_PLANES"]; // of the test run; the control planes here are started by the tests
  binaries = await ensureBinaries();
}, coldStartMs);

describe("a control plane", () => {
  let cluster: ControlPlane;
  beforeAll(async () => {
    cluster = await startControlPlane({ binaries, auditLog: true });
  }, testMs);
  afterAll(() => cluster[Symbol.asyncDispose]());

  const create = (object: object) => cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(object) });
  const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

  it(
    "authenticates the users and groups of clientFor, and enforces RBAC",
    async () => {
      const kubeconfig = await cluster.clientFor({ user: "system:node:worker-1", groups: ["system:nodes"] });
      const answer: unknown = JSON.parse(await cluster.kubectl(["auth", "whoami", "-o", "json"], { kubeconfig }));
      const groups = ["system:nodes", "system:authenticated"];
      expect(answer).toMatchObject({ status: { userInfo: { username: "system:node:worker-1", groups } } });
      await expect(cluster.kubectl(["create", "namespace", "x"], { kubeconfig })).rejects.toMatchObject({
        code: "kubectl",
      });
    },
    testMs,
  );

  it(
    "accepts tokens of service accounts",
    async () => {
      await cluster.kubectl(["create", "serviceaccount", "daemon"]);
      const token = (await cluster.kubectl(["create", "token", "daemon"])).trim();
      const kubeconfig = await cluster.clientFor({ token });
      const whoAmI = await cluster.kubectl(["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"], {
        kubeconfig,
      });
      expect(whoAmI).toBe("system:serviceaccount:default:daemon");
    },
    testMs,
  );

  it(
    "keeps its address and objects after a stop, which ends open watches, and after a crash",
    async () => {
      await create(configMap("kept"));
      const watch = cluster.kubectl(["get", "--raw", "/api/v1/configmaps?watch=1"]).catch(() => undefined);
      const seesWatch = async () => (await cluster.kubectl(["get", "--raw", "/metrics"])).match(openWatches) !== null;
      await eventually("the watch", seesWatch);
      await cluster.stopApiServer();
      await watch;
      await cluster.startApiServer();
      await cluster.killApiServer();
      await expect(cluster.kubectl(["get", "configmaps"])).rejects.toMatchObject({ code: "kubectl" });
      await cluster.startApiServer();
      expect(await cluster.kubectl(["get", "configmap", "kept", "-o", "name"])).toBe("configmap/kept\n");
    },
    testMs,
  );

  it(
    "answers 410 Gone to a watch from a version before a compaction and a restart",
    async () => {
      const path = "/api/v1/namespaces/default/configmaps";
      await create(configMap("earlier"));
      const output = "jsonpath={.metadata.resourceVersion}";
      const resourceVersion = await cluster.kubectl(["get", "configmap", "earlier", "-o", output]);
      await create(configMap("later"));
      await cluster.compactEtcd();
      await cluster.killApiServer();
      await cluster.startApiServer();
      const watch = `${path}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}`;
      expect(await cluster.kubectl(["get", "--raw", watch])).toContain('"code":410');
    },
    testMs,
  );

  it(
    "records writes and their users in the audit log",
    async () => {
      await create(configMap("recorded"));
      const event = await eventually("the audit event", async () =>
        (await cluster.auditEvents()).find((each) => isWrite(each) && each.objectRef?.name === "recorded"),
      );
      expect(event).toMatchObject({
        verb: "create",
        user: { username: "admin", groups: ["system:masters", "system:authenticated"] },
        objectRef: { resource: "configmaps", namespace: "default", name: "recorded" },
        responseStatus: { code: 201 },
        requestObject: configMap("recorded"),
      });
    },
    testMs,
  );

  it(
    "serves the kinds of a directory of CRDs once applyCrds resolves",
    async () => {
      const directory = await mkdtemp(join(tmpdir(), "crds-"));
      await writeFile(join(directory, "widgets.json"), JSON.stringify(widgetCrd));
      await cluster.applyCrds(directory);
      await cluster.applyCrds(directory); // applying the same CRDs again has no effect
      await create({ apiVersion: "test.example.com/v1", kind: "Widget", metadata: { name: "one" } });
      await rm(directory, { recursive: true });
    },
    testMs,
  );
});

describe("a control plane with a controller manager", () => {
  it(
    "collects objects whose owner is deleted, and leaves no files or processes when it is disposed",
    async () => {
      let directory: string;
      let server: string;
      {
        await using cluster = await startControlPlane({ controllerManager: true });
        ({ dataDir: directory, server } = cluster);
        const create = (object: object) =>
          cluster.kubectl(["create", "-o", "jsonpath={.metadata.uid}", "-f", "-"], { input: JSON.stringify(object) });
        const configMap = { apiVersion: "v1", kind: "ConfigMap" };
        const uid = await create({ ...configMap, metadata: { name: "owner" } });
        const ownerReferences = [{ ...configMap, name: "owner", uid }];
        await create({ ...configMap, metadata: { name: "owned", ownerReferences } });
        await cluster.kubectl(["delete", "configmap", "owner"]);
        const list = () => cluster.kubectl(["get", "configmaps", "-o", "name"]);
        await eventually("the collection", async () => !(await list()).includes("owned"), { withinMs: 60_000 });
      }
      expect(existsSync(directory)).toBe(false);
      await expect(fetch(server)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
    },
    coldStartMs,
  );
});

describe("a lent control plane", () => {
  let directory: string;
  let lending: AsyncDisposable;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "lender-"));
    process.env["SWITCHYARD_CONTROL_PLANES"] = join(directory, "lender.sock");
    lending = await lendControlPlanes(process.env["SWITCHYARD_CONTROL_PLANES"]);
  }, coldStartMs);
  afterAll(async () => {
    delete process.env["SWITCHYARD_CONTROL_PLANES"];
    await lending[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  it("has nothing of its last borrower, whatever that created, changed, deleted or killed", async () => {
    const names = async (cluster: ControlPlane) =>
      (
        await cluster.kubectl(["get", "crd,namespaces,clusterroles,configmaps,serviceaccounts", "-A", "-o", "name"])
      ).split("\n");
    let server: string;
    let before: readonly string[];
    {
      await using cluster = await startControlPlane({ controllerManager: true });
      ({ server } = cluster);
      before = await names(cluster);
      await cluster.applyCrds([widgetCrd]);
      const widget = {
        apiVersion: "test.example.com/v1",
        kind: "Widget",
        metadata: { name: "one", finalizers: ["x/y"] },
      };
      await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(widget) });
      await cluster.kubectl(["create", "namespace", "left"]);
      await cluster.kubectl(["delete", "clusterrole", "view"]);
      await cluster.kubectl(["label", "namespace", "default", "left=over"]);
      await cluster.killApiServer();
    }
    await using cluster = await startControlPlane({ controllerManager: true });
    expect(cluster.server).toBe(server);
    expect(await names(cluster)).toEqual(before);
    expect(await cluster.kubectl(["get", "namespace", "default", "-o", "jsonpath={.metadata.labels.left}"])).toBe("");
    await expect(cluster.kubectl(["get", "widgets"])).rejects.toThrow(
      /the server doesn't have a resource type "widgets"/,
    );
    const left = (await cluster.auditEvents()).filter(({ objectRef }) => objectRef?.name === "left");
    expect(left).toEqual([]);
    await cluster.kubectl(["create", "namespace", "new"]);
    await eventually("the controller manager works", () => cluster.kubectl(["get", "sa", "default", "-n", "new"]));
  });

  it("is not lent twice", async () => {
    await using one = await startControlPlane();
    await using other = await startControlPlane();
    expect(other.server).not.toBe(one.server);
  });

  it("is not used where other programs or a directory that stays are asked for", async () => {
    const dataDir = join(directory, "own");
    await using own = await startControlPlane({ dataDir });
    expect(existsSync(join(dataDir, "kube-apiserver.log"))).toBe(true);
    expect(own.kubeconfig.startsWith(dataDir)).toBe(true);
  });
});

describe("a control plane that cannot start", () => {
  it(
    "rejects at once with the output of its processes",
    async () => {
      const broken = await mkdtemp(join(tmpdir(), "broken-"));
      await symlink(join(binaries, "etcd"), join(broken, "etcd"));
      await writeFile(join(broken, "kube-apiserver"), "#!/bin/sh\necho 'unknown flag: --x' >&2; exit 1\n");
      await chmod(join(broken, "kube-apiserver"), 0o755);
      const starting = startControlPlane({ binaries: broken });
      await expect(starting).rejects.toMatchObject({ code: "start" });
      await expect(starting).rejects.toThrow(
        /kube-apiserver ended\n(.*\n)*--- end of kube-apiserver.log\nunknown flag: --x/,
      );
      await rm(broken, { recursive: true });
    },
    testMs,
  );
});

// A line of the API server's metrics: open watches of ConfigMaps.
const openWatches =
  /^apiserver_longrunning_requests\{.*resource="configmaps".*scope="cluster".*verb="WATCH".*\} [1-9]/m;

const widgetCrd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.test.example.com" },
  spec: {
    group: "test.example.com",
    names: { kind: "Widget", plural: "widgets" },
    scope: "Cluster",
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};
