// SPDX-License-Identifier: Apache-2.0
/**
 * UpstreamCluster is a cluster in which upstream's programs have run: an API server with the CRDs and without
 * Switchyard's programs, and a client that writes with upstream's field managers.
 */
import { upstreamDaemonManager, upstreamManager, type ResourceType } from "@switchyard/api";
import { namespace, type TestCluster } from "@switchyard/test-cluster";
import {
  apiVersionOf,
  collectionPath,
  connect,
  isKubeObject,
  objectPath,
  type KubeObject,
  type ObjectMeta,
  type ObjectName,
} from "@switchyard/kube";
import {
  binariesFor,
  ensureBinaries,
  findWorkspaceRoot,
  spawnGuarded,
  startControlPlane,
  type AuditEvent,
  type GuardedProcess,
} from "@switchyard/testing";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readIfThere } from "../api/plain-api.ts";

/**
 * The field managers that upstream leaves in objects: client-go uses the file name of the program
 * (upstream's images contain /usr/bin/sriov-network-operator and /usr/bin/sriov-network-config-daemon).
 */
export const upstream = {
  operator: upstreamManager,
  daemon: upstreamDaemonManager,
  user: "kubectl-client-side-apply",
} as const;

/** The name of an object. A string is the name of an object in the operator's namespace or of a cluster-scoped object. */
export type Place = string | ObjectName;

/** An object to create, in the operator's namespace by default. */
export interface NewObject {
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** Writes with one field manager. */
export interface Writing {
  /** Creates the object and returns it as stored. */
  create(type: ResourceType, object: NewObject): Promise<KubeObject>;
  /** Replaces the object or its status, as Update of a Go client does. */
  update(type: ResourceType, object: KubeObject, subresource?: "status"): Promise<KubeObject>;
  /** Merges `body` into the object. */
  patch(type: ResourceType, place: Place, body: object): Promise<KubeObject>;
  /** Applies the status by server-side apply with force. */
  applyStatus(type: ResourceType, place: Place, status: object): Promise<KubeObject>;
}

/** The cluster. Disposing it ends all processes. */
export interface UpstreamCluster extends TestCluster {
  as(manager: string): Writing;
  read(type: ResourceType, place: Place): Promise<KubeObject>;
  /** The object; undefined if it does not exist. */
  find(type: ResourceType, place: Place): Promise<KubeObject | undefined>;
  startOperator(): GuardedProcess;
  audit(): Promise<readonly AuditEvent[]>;
}

/** Options of the cluster. */
export interface UpstreamClusterOptions {
  /** Whether a controller manager runs, which creates the pods of DaemonSets and collects garbage. */
  readonly controllerManager?: boolean;
  /** Whether Switchyard's CRDs are applied first; true by default. */
  readonly crds?: boolean;
  /** Socket of a proxy through which the API server reaches webhooks. */
  readonly nodeProxySocket?: string;
}

/** Starts the control plane with the operator's namespace. */
export async function startUpstreamCluster({
  controllerManager = false,
  crds = true,
  nodeProxySocket,
}: UpstreamClusterOptions = {}): Promise<UpstreamCluster> {
  const stack = new AsyncDisposableStack();
  try {
    const directory = await mkdtemp(join(tmpdir(), "switchyard-upgrade-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const parts = { controllerManager, ...(nodeProxySocket !== undefined && { nodeProxySocket }) };
    const binaries = await ensureBinaries({ names: binariesFor(parts) });
    const cluster = stack.use(await startControlPlane({ binaries, ...parts, auditLog: true }));
    if (crds) await cluster.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
    await cluster.kubectl(["create", "namespace", namespace]);
    const transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));

    const nameOf = (type: ResourceType, place: Place): ObjectName => {
      const { name, namespace: within = namespace } = typeof place === "string" ? { name: place } : place;
      return type.namespaced ? { name, namespace: within } : { name };
    };
    const pathOf = (type: ResourceType, place: Place, subresource?: "status") =>
      objectPath(type, nameOf(type, place), subresource);
    const read = async (type: ResourceType, place: Place) =>
      stored(await transport.request({ method: "GET", path: pathOf(type, place) }));
    const start = (name: string, script: string, args: readonly string[]): GuardedProcess => {
      const common = ["--kubeconfig", cluster.kubeconfig, "--namespace", namespace];
      const file = join(findWorkspaceRoot(), script);
      const log = join(directory, `${name}.log`);
      const started = spawnGuarded(process.execPath, [file, ...common, ...args], { log });
      stack.defer(() => started.kill());
      return started;
    };
    return {
      cluster,
      transport,
      directory,
      start,
      kubectl: (args, input) =>
        cluster.kubectl(["--namespace", namespace, ...args], {
          ...(input === undefined ? {} : { input: JSON.stringify(input) }),
        }),
      as: (manager) => {
        const query = { fieldManager: manager };
        return {
          create: async (type, object) => {
            const body = { ...object, apiVersion: apiVersionOf(type), kind: type.kind };
            const path = collectionPath(type, nameOf(type, object.metadata).namespace);
            return stored(await transport.request({ method: "POST", path, query, body }));
          },
          update: async (type, object, subresource) => {
            const path = pathOf(type, object.metadata, subresource);
            return stored(await transport.request({ method: "PUT", path, query, body: object }));
          },
          patch: async (type, place, body) => {
            const contentType = "application/merge-patch+json";
            const path = pathOf(type, place);
            return stored(await transport.request({ method: "PATCH", path, query, contentType, body }));
          },
          applyStatus: async (type, place, status) => {
            const contentType = "application/apply-patch+yaml";
            const path = pathOf(type, place, "status");
            const body = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: nameOf(type, place), status };
            const forced = { ...query, force: true };
            return stored(await transport.request({ method: "PATCH", path, query: forced, contentType, body }));
          },
        };
      },
      read,
      async find(type, place) {
        const object = await readIfThere(transport, pathOf(type, place));
        return object === undefined ? undefined : stored(object);
      },
      kubectlFile: join(binaries, "kubectl"),
      use: (resource) => stack.use(resource),
      startOperator: () => start("operator", "apps/operator/src/main.ts", []),
      audit: () => cluster.auditEvents(),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function stored(answer: unknown): KubeObject {
  if (!isKubeObject(answer)) throw new TypeError("the API server answered with no object");
  return answer;
}
