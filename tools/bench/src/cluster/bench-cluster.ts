// SPDX-License-Identifier: Apache-2.0
/**
 * startBenchCluster starts a real API server with Switchyard's CRDs and the users of a run. The measured program and the
 * plain client use service accounts, because administrators are exempt from API priority and fairness, so their requests
 * are faster than those of a real component.
 */
import { isRecord } from "@switchyard/kube";
import {
  ensureBinaries,
  eventually,
  findWorkspaceRoot,
  outputOf,
  startControlPlane,
  type PodAccount,
} from "@switchyard/testing";
import { join } from "node:path";
import { createMeasuredService, type MeasuredOptions, type MeasuredService } from "../harness/service.ts";
import type { Run } from "../harness/run.ts";
import type { CommonFigures } from "../harness/scenario.ts";
import { createAuditTail, type AuditTail } from "../harness/requests.ts";
import { createPlainClient, readIdentity, type PlainClient } from "./plain-client.ts";

export interface BenchUser {
  readonly kubeconfig: string;
  /** For programs that connect as in a pod. A program that reads a kubeconfig needs 18 MB more. */
  readonly pod: PodAccount;
  /** The user's requests since the last read. */
  readonly requests: AuditTail;
  /** A plain client with the user's rights. */
  client(connections: number): Promise<PlainClient>;
}

/** A measured service that is a client of the API server. */
export interface ClusterService extends MeasuredService {
  readonly requests: AuditTail;
}

export interface BenchCluster {
  readonly admin: PlainClient;
  /** A directory for logs, which is removed at the end. */
  readonly directory: string;
  readonly versions: Readonly<Record<string, string>>;
  /** A service account of this name with the role cluster-admin. */
  user(name: string): Promise<BenchUser>;
  /** A service that connects as the user of this name, and is killed at the end of the run. It does not run yet. */
  service(name: string, options: Omit<MeasuredOptions, "pod" | "log" | "fail">): Promise<ClusterService>;
  /** Stops the service, and returns what every report has. */
  end(service: ClusterService): Promise<Required<CommonFigures>>;
}

export interface BenchClusterOptions {
  /** The namespaces to create. */
  readonly namespaces: readonly string[];
  /** Files with CRDs beside Switchyard's own, or lists of them. */
  readonly crds?: readonly (string | readonly object[])[];
}

/** The cluster runs until the end of the run, which fails when a process of the control plane ends. */
export async function startBenchCluster(
  run: Run,
  { namespaces, crds = [] }: BenchClusterOptions,
): Promise<BenchCluster> {
  const { progress, fail } = run;
  progress.at("finding the binaries of the control plane");
  const binaries = await ensureBinaries();
  progress.at("starting etcd and kube-apiserver");
  const controlPlane = run.use(await startControlPlane({ binaries, auditLog: true }));
  await controlPlane.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
  for (const more of crds) await controlPlane.applyCrds(more);
  const admin = run.use(createPlainClient(await readIdentity(controlPlane.kubeconfig), adminConnections));
  await untilWatchable(admin);
  for (const name of [accountNamespace, ...namespaces])
    await admin.request({ method: "POST", path: "/api/v1/namespaces", body: namespace(name) });
  await admin.request({
    method: "POST",
    path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    body: everythingFor(serviceAccounts),
  });
  void controlPlane.failed.then(fail);

  const directory = controlPlane.dataDir;
  async function user(name: string): Promise<BenchUser> {
    const username = `system:serviceaccount:${accountNamespace}:${name}`;
    const kubeconfig = await controlPlane.clientFor({ user: username, groups: [serviceAccounts] });
    return {
      kubeconfig,
      pod: await controlPlane.podAccount(accountNamespace, name),
      requests: createAuditTail(join(directory, "audit.log"), username),
      client: async (connections) => run.use(createPlainClient(await readIdentity(kubeconfig), connections)),
    };
  }

  const etcd = await outputOf(join(binaries, "etcd"), ["--version"]);
  const versions = { kubernetes: await versionOf(admin), etcd: /^etcd Version: (\S+)/.exec(etcd)?.[1] ?? "unknown" };
  return {
    admin,
    directory,
    versions,
    user,
    async end(service) {
      await service.stop();
      return { versions, stopSeconds: service.stopSeconds, complaints: service.complaints() };
    },
    async service(name, options) {
      const { pod, requests } = await user(name);
      const log = join(directory, `${name}.log`);
      const service = run.use(createMeasuredService({ ...options, pod, log, fail }));
      return Object.assign(service, { requests });
    },
  };
}

/** For a second after a CRD is created, the API server refuses lists and watches with 429 "storage is (re)initializing". */
async function untilWatchable(admin: PlainClient): Promise<void> {
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const list = await admin.get(crds);
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
  const answer = await client.get("/version");
  return isRecord(answer) ? String(answer["gitVersion"]) : "unknown";
}
