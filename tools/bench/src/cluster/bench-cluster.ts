// SPDX-License-Identifier: Apache-2.0
/**
 * startBenchCluster starts a real API server with Switchyard's CRDs and the users of a run. The measured program and the
 * plain client use service accounts, because administrators are exempt from API priority and fairness, so their requests
 * are faster than those of a real component.
 */
import { namespaces as namespaceType } from "@switchyard/api";
import { connect, watchObjects, type KubeObject, type ResourceType } from "@switchyard/kube";
import {
  ensureBinaries,
  eventually,
  findWorkspaceRoot,
  outputOf,
  startControlPlane,
  type AuditTail,
  type PodAccount,
} from "@switchyard/testing";
import { join } from "node:path";
import { createMeasuredService, type MeasuredOptions, type MeasuredService } from "../harness/service.ts";
import { BenchError, type Run } from "../harness/run.ts";
import type { CommonFigures } from "../harness/scenario.ts";
import { operatorNamespace, plainNamespace } from "./nodes.ts";
import { createPlainClient, type Identity, type PlainClient } from "./plain-client.ts";

interface BenchUser {
  readonly pod: PodAccount;
  /** The user's requests. */
  readonly requests: AuditTail;
}

/** The plain client with the rights of a service account. */
export interface PlainUser {
  readonly client: PlainClient;
  readonly connections: number;
  /** For another client with the same rights. */
  readonly identity: Identity;
}

/** A measured service that is a client of the API server. */
export interface ClusterService extends MeasuredService {
  readonly requests: AuditTail;
}

type AnyObject = KubeObject & { readonly status?: unknown };

export interface BenchCluster {
  readonly admin: PlainClient;
  /** A directory for logs, which is removed at the end. */
  readonly directory: string;
  readonly versions: Readonly<Record<string, string>>;
  /** A service account of this name with the role cluster-admin. A program that reads a kubeconfig needs 18 MB more. */
  user(name: string): Promise<BenchUser>;
  /** Writes a kubeconfig of the user and returns its path. */
  kubeconfigOf(user: BenchUser): Promise<string>;
  plainUser(connections: number): Promise<PlainUser>;
  /** A service that connects as the user of this name, and is killed at the end of the run. It does not run yet. */
  service(name: string, options: Omit<MeasuredOptions, "pod" | "log" | "fail">): Promise<ClusterService>;
  /**
   * Calls `listener` with what `project` returns for each object of the type in the namespace of the operator: first of those that
   * exist, then after each change, until the end of the run. A failure of the watch fails the run, because figures would be wrong.
   */
  watch<T>(type: ResourceType, project: (object: AnyObject) => T, listener: (value: T) => void): Promise<void>;
  /** Stops the service, and returns what every report has. */
  end(service: ClusterService): Promise<Required<CommonFigures>>;
}

export interface BenchClusterOptions {
  /** Namespaces beside that of the operator and that of the plain client. */
  readonly namespaces?: readonly string[];
  /** Files with CRDs beside Switchyard's own, or lists of them. */
  readonly crds?: readonly (string | readonly object[])[];
}

/** The cluster runs until the end of the run, which fails when a process of the control plane ends. */
export async function startBenchCluster(
  run: Run,
  { namespaces = [], crds = [] }: BenchClusterOptions = {},
): Promise<BenchCluster> {
  const { progress, fail, signal } = run;
  progress.at("finding the binaries of the control plane");
  const binaries = await ensureBinaries();
  progress.at("starting etcd and kube-apiserver");
  const controlPlane = run.use(await startControlPlane({ binaries, auditLog: true }));
  await controlPlane.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
  for (const more of crds) await controlPlane.applyCrds(more);
  const { server, kubeconfig, dataDir: directory } = controlPlane;
  const admin = run.use(createPlainClient({ ...controlPlane.admin, server }, adminConnections));
  await untilWatchable(admin);
  for (const name of new Set([accountNamespace, operatorNamespace, plainNamespace, ...namespaces]))
    await admin.create(namespaceType, { metadata: { name } });
  const binding = ["create", "clusterrolebinding", "bench", "--clusterrole=cluster-admin"];
  await controlPlane.kubectl([...binding, "--group=system:serviceaccounts"]);
  void controlPlane.failed.then(fail);

  async function user(name: string): Promise<BenchUser> {
    return {
      pod: await controlPlane.podAccount(accountNamespace, name),
      requests: controlPlane.auditTail(`system:serviceaccount:${accountNamespace}:${name}`),
    };
  }

  const etcd = await outputOf(join(binaries, "etcd"), ["--version"]);
  const versions = {
    kubernetes: String((await admin.get("/version"))["gitVersion"]),
    etcd: /^etcd Version: (\S+)/.exec(etcd)?.[1] ?? "unknown",
  };
  return {
    admin,
    directory,
    versions,
    user,
    kubeconfigOf: ({ pod: { token } }) => controlPlane.clientFor({ token }),
    async plainUser(connections) {
      const { pod } = await user("plain");
      const identity = { server, ca: pod.authority, token: pod.token };
      return { client: run.use(createPlainClient(identity, connections)), connections, identity };
    },
    async service(name, options) {
      const { pod, requests } = await user(name);
      const log = join(directory, `${name}.log`);
      const service = run.use(createMeasuredService({ ...options, pod, log, fail }));
      return Object.assign(service, { requests });
    },
    async watch(type, project, listener) {
      const transport = run.use(await connect({ kubeconfig }));
      const report = (cause: unknown) => {
        fail(new BenchError("watch", `the watch of ${type.plural} failed: ${String(cause)}`, cause));
      };
      const cache = run.use(watchObjects({ transport, type, namespace: operatorNamespace, project, report }));
      await cache.whenSynced(signal);
      cache.subscribe(({ after }) => {
        if (after !== undefined) listener(after);
      });
    },
    async end(service) {
      await service.stop();
      return { versions, stopSeconds: service.stopSeconds, complaints: service.complaints() };
    },
  };
}

/** For a second after a CRD is created, the API server refuses lists and watches with 429 "storage is (re)initializing". */
async function untilWatchable(admin: PlainClient): Promise<void> {
  const crds = await admin.list<Crd>("/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
  const paths = crds.flatMap(({ spec: { group, names, versions } }) =>
    versions.filter(({ served }) => served).map(({ name }) => `/apis/${group}/${name}/${names.plural}`),
  );
  await Promise.all(
    paths.map((path) =>
      eventually(path, () => admin.request({ method: "GET", path: `${path}?watch=true&timeoutSeconds=1` })),
    ),
  );
}

interface Crd {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

// The admin writes the statuses of the fleet, with as many connections as the API server can use.
const adminConnections = 32;

const accountNamespace = "bench";
