// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster in which upstream's programs were: an API server with the CRDs, none of our programs yet, and a way to write
 * as upstream's do, under their field managers.
 * Usage: `await using stage = await setUpstreamStage(); await stage.as(operator).create(policy); stage.startOperator();`
 */
import { upstreamDaemonManager, upstreamManager, type ResourceType } from "@switchyard/api";
import { namespace, type Stage } from "@switchyard/demo/stage";
import { collectionPath, connect, isKubeObject, objectPath, type KubeObject } from "@switchyard/kube";
import {
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

/**
 * Field managers that upstream leaves in objects: client-go takes the name of the program's file
 * (its images have /usr/bin/sriov-network-operator and /usr/bin/sriov-network-config-daemon).
 */
export const upstream = {
  operator: upstreamManager,
  daemon: upstreamDaemonManager,
  user: "kubectl-client-side-apply",
} as const;

/** Writes as one program does. */
export interface Writing {
  /** The object as stored. */
  create(type: ResourceType, object: object): Promise<KubeObject>;
  /** Replaces the object, or its status, as an Update of a Go client does. */
  update(type: ResourceType, object: KubeObject, subresource?: "status"): Promise<KubeObject>;
  /** Merges into the object. */
  patch(type: ResourceType, name: string, body: object): Promise<KubeObject>;
}

export interface UpstreamStage extends Stage {
  as(manager: string): Writing;
  read(type: ResourceType, name: string): Promise<KubeObject>;
  startOperator(): GuardedProcess;
  audit(): Promise<readonly AuditEvent[]>;
}

export async function setUpstreamStage(): Promise<UpstreamStage> {
  const stack = new AsyncDisposableStack();
  try {
    const binaries = await ensureBinaries();
    const directory = await mkdtemp(join(tmpdir(), "switchyard-upgrade-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const cluster = stack.use(await startControlPlane({ binaries, auditLog: true }));
    await cluster.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
    await cluster.kubectl(["create", "namespace", namespace]);
    const transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));

    const placed = (type: ResourceType) => (type.namespaced ? namespace : undefined);
    const pathOf = (type: ResourceType, name: string, subresource?: "status") =>
      objectPath(type, { name, namespace: placed(type) }, subresource);
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
            const path = collectionPath(type, placed(type));
            return stored(await transport.request({ method: "POST", path, query, body }));
          },
          update: async (type, object, subresource) => {
            const path = pathOf(type, object.metadata.name, subresource);
            return stored(await transport.request({ method: "PUT", path, query, body: object }));
          },
          patch: async (type, name, body) => {
            const contentType = "application/merge-patch+json";
            const path = pathOf(type, name);
            return stored(await transport.request({ method: "PATCH", path, query, contentType, body }));
          },
        };
      },
      read: async (type, name) => stored(await transport.request({ method: "GET", path: pathOf(type, name) })),
      startOperator: () => start("operator", "apps/operator/src/main.ts", []),
      audit: () => cluster.auditEvents(),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function apiVersionOf({ group, version }: ResourceType): string {
  return group === "" ? version : `${group}/${version}`;
}

function stored(answer: unknown): KubeObject {
  if (!isKubeObject(answer)) throw new TypeError("the API server answered with no object");
  return answer;
}
