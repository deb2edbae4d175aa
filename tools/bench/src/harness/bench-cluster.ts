// SPDX-License-Identifier: Apache-2.0
/**
 * startBenchCluster starts a real API server with Switchyard's CRDs and the users of a run. The measured program and the
 * plain client use service accounts, because administrators are exempt from API priority and fairness, so their requests
 * are faster than those of a real component.
 */
import { ensureBinaries, eventually, findWorkspaceRoot, startControlPlane, type PodAccount } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { isRecord } from "@switchyard/kube";
import { createAuditTail, type AuditTail } from "./audit-tail.ts";
import type { Progress } from "./progress.ts";
import { createPlainClient, readIdentity, type Identity, type PlainClient } from "./plain-client.ts";

export interface BenchUser {
  readonly kubeconfig: string;
  /** For programs that connect as in a pod. A program that reads a kubeconfig needs 18 MB more. */
  readonly pod: PodAccount;
  readonly identity: Identity;
  /** The user's requests since the last read. */
  readonly requests: AuditTail;
}

export interface BenchCluster extends AsyncDisposable {
  readonly admin: PlainClient;
  readonly server: string;
  /** A directory for logs, which is removed at the end. */
  readonly directory: string;
  readonly versions: { readonly kubernetes: string; readonly etcd: string };
  /** A service account of this name with the role cluster-admin. */
  user(name: string): Promise<BenchUser>;
}

export interface BenchClusterOptions {
  /** The namespaces to create. */
  readonly namespaces: readonly string[];
  /** Files with CRDs beside Switchyard's own, or lists of them. */
  readonly crds?: readonly (string | readonly object[])[];
  readonly progress: Progress;
  /** Called when a process of the control plane ends. */
  readonly fail: (error: unknown) => void;
}

export async function startBenchCluster(options: BenchClusterOptions): Promise<BenchCluster> {
  const { namespaces, crds = [], progress, fail } = options;
  await using parts = new AsyncDisposableStack();
  progress.at("finding the binaries of the control plane");
  const binaries = await ensureBinaries();
  progress.at("starting etcd and kube-apiserver");
  const controlPlane = parts.use(await startControlPlane({ binaries, auditLog: true }));
  await controlPlane.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
  for (const more of crds) await controlPlane.applyCrds(more);
  const admin = parts.use(createPlainClient(await readIdentity(controlPlane.kubeconfig), adminConnections));
  await untilWatchable(admin);
  for (const name of [accountNamespace, ...namespaces])
    await admin.request({ method: "POST", path: "/api/v1/namespaces", body: namespace(name) });
  await admin.request({
    method: "POST",
    path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    body: everythingFor(serviceAccounts),
  });

  void controlPlane.failed.then(fail);
  const versions = { kubernetes: await versionOf(admin), etcd: await etcdVersion(join(binaries, "etcd")) };
  const owned = parts.move();
  return {
    admin,
    server: controlPlane.server,
    directory: controlPlane.dataDir,
    versions,
    async user(name) {
      const user = `system:serviceaccount:${accountNamespace}:${name}`;
      const kubeconfig = await controlPlane.clientFor({ user, groups: [serviceAccounts] });
      const requests = createAuditTail(join(controlPlane.dataDir, "audit.log"), user);
      const pod = await controlPlane.podAccount(accountNamespace, name);
      return { kubeconfig, pod, identity: await readIdentity(kubeconfig), requests };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** For a second after a CRD is created, the API server refuses lists and watches with 429 "storage is (re)initializing". */
async function untilWatchable(admin: PlainClient): Promise<void> {
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const list: unknown = JSON.parse(await admin.request({ method: "GET", path: crds }));
  const items: readonly unknown[] = isRecord(list) && Array.isArray(list["items"]) ? list["items"] : [];
  await Promise.all(
    items.flatMap(watchPaths).map(async (path) => {
      const end = new AbortController();
      await eventually(path, () => admin.watch({ path }, end.signal));
      end.abort();
    }),
  );
}

/** "/apis/sriovnetwork.openshift.io/v1/sriovnetworks?watch=true" for each served version of a CRD. */
function watchPaths(crd: unknown): readonly string[] {
  const spec = isRecord(crd) && isRecord(crd["spec"]) ? crd["spec"] : {};
  const { group, names, versions } = spec;
  const plural = isRecord(names) ? names["plural"] : undefined;
  const all: readonly unknown[] = Array.isArray(versions) ? versions : [];
  return all.flatMap((version) =>
    isRecord(version) && version["served"] === true
      ? [`/apis/${String(group)}/${String(version["name"])}/${String(plural)}?watch=true`]
      : [],
  );
}

// The admin writes the statuses of the fleet, with as many connections as the API server can use.
const adminConnections = 32;

const serviceAccounts = "system:serviceaccounts";
const accountNamespace = "bench";

function namespace(name: string) {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

function everythingFor(group: string) {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "bench" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: group }],
  };
}

async function versionOf(client: PlainClient): Promise<string> {
  const answer: unknown = JSON.parse(await client.request({ method: "GET", path: "/version" }));
  return isRecord(answer) ? String(answer["gitVersion"]) : "unknown";
}

async function etcdVersion(file: string): Promise<string> {
  const { stdout } = await promisify(execFile)(file, ["--version"]);
  return /^etcd Version: (\S+)/.exec(stdout)?.[1] ?? "unknown";
}
