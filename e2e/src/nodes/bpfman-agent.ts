// SPDX-License-Identifier: Apache-2.0
/**
 * startBpfmanAgent plays bpfman-operator and its agent for one node, which are in no package registry: it executes
 * ClusterBpfApplications, or XdpPrograms, by a loader, and writes their states as these programs do (eve-and-afxdp.md b5). As
 * they do, it executes changed links, but refuses a changed list of programs, and its conditions do not have the loader's words.
 */
import { clusterBpfApplications, clusterBpfApplicationStates, bpfPrograms, xdpPrograms } from "@switchyard/api";
import {
  apiVersionOf,
  collectionPath,
  isKubeError,
  objectPath,
  recordAt,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import type { BpfmanVersion } from "@switchyard/testing";
import { setTimeout as delay } from "node:timers/promises";

/** What the daemon of bpfman does. All reject with its words. */
export interface BpfmanLoader {
  /** Returns the ID of the program. */
  load(program: { readonly path: string; readonly image: string; readonly functionName: string }): Promise<number>;
  /** Returns the ID of the link. */
  attach(programId: number, link: Pick<Work, "interfaceName" | "priority" | "proceedOn">): Promise<number>;
  detach(linkId: number): Promise<void>;
  unload(programId: number): Promise<void>;
}

export interface BpfmanAgentOptions {
  readonly transport: Transport;
  readonly version: BpfmanVersion;
  readonly nodeName: string;
  readonly loader: BpfmanLoader;
}

interface Loaded {
  readonly source: string;
  programId?: number;
  linkId?: number;
  interfaceName?: string;
}

/** The same work in the words of both releases. */
interface Work {
  readonly functionName: string;
  readonly path: string;
  readonly image: string;
  readonly interfaceName: string;
  readonly priority: number;
  /** Numbers of XDP actions. */
  readonly proceedOn: readonly number[];
  readonly host: string;
}

const finalizer = "bpfman.io.operator/finalizer";
const pollMs = 100;
const error = { type: "Error", reason: "Error", message: "An error has occurred" };
const listChanged = {
  type: "ProgramListChangedError",
  reason: "ProgramListChangedError",
  message: "The list of programs has changed",
};
const success = {
  type: "Success",
  reason: "Success",
  message: "The BPF application has been successfully loaded and attached",
};

export function startBpfmanAgent(options: BpfmanAgentOptions): AsyncDisposable {
  const { transport, version, nodeName, loader } = options;
  const [objects, states] =
    version === "0.6" ? [clusterBpfApplications, clusterBpfApplicationStates] : [xdpPrograms, bpfPrograms];
  const known = new Map<string, Loaded>();
  const end = new AbortController();

  async function run(): Promise<void> {
    while (!end.signal.aborted) {
      try {
        const list = await transport.request({ method: "GET", path: collectionPath(objects) });
        const items: unknown = recordAt({ list }, "list")["items"];
        for (const item of Array.isArray(items) ? items : []) await reconcile(item);
      } catch (failure) {
        // The object has changed or gone, or the API server is away; the next round sees it.
        if (!isKubeError(failure)) throw failure;
      }
      await delay(pollMs, undefined, { signal: end.signal }).catch(() => undefined);
    }
  }

  async function reconcile(object: unknown): Promise<void> {
    const metadata = recordAt(object, "metadata");
    const [name, uid] = [String(metadata["name"]), String(metadata["uid"])];
    const finalizers: readonly unknown[] = Array.isArray(metadata["finalizers"]) ? metadata["finalizers"] : [];
    const work = version === "0.6" ? workOfApplication(object) : workOfXdpProgram(object);
    if (work.host !== nodeName) return;
    if (metadata["deletionTimestamp"] !== undefined) {
      const { programId } = known.get(uid) ?? {};
      if (programId !== undefined) await loader.unload(programId);
      known.delete(uid);
      await patch(objects, name, { metadata: { finalizers: finalizers.filter((one) => one !== finalizer) } });
      return;
    }
    if (!finalizers.includes(finalizer)) {
      await patch(objects, name, { metadata: { finalizers: [...finalizers, finalizer] } });
    }
    const source = JSON.stringify([work.functionName]);
    const loaded = known.get(uid) ?? { source };
    known.set(uid, loaded);
    if (loaded.source !== source) {
      await write(name, uid, { loaded, load: "ProgramListChangedError", condition: listChanged });
      return;
    }
    try {
      loaded.programId ??= await loader.load(work);
    } catch {
      await write(name, uid, { loaded, load: "LoadError", condition: error });
      return;
    }
    try {
      if (loaded.linkId !== undefined && loaded.interfaceName !== work.interfaceName) {
        await loader.detach(loaded.linkId);
        delete loaded.linkId;
      }
      loaded.interfaceName = work.interfaceName;
      loaded.linkId ??= await loader.attach(loaded.programId, work);
      await write(name, uid, { loaded, load: "LoadSuccess", condition: success });
    } catch {
      await write(name, uid, { loaded, load: "LoadSuccess", condition: error });
    }
  }

  /** Writes the state of an object, if it has changed. */
  async function write(
    owner: string,
    uid: string,
    { loaded, load, condition }: { readonly loaded: Loaded; readonly load: string; readonly condition: typeof error },
  ): Promise<void> {
    const name = `${owner}-${uid.slice(0, 8)}`;
    const { programId, linkId, interfaceName } = loaded;
    const conditionOf06 = { ...condition, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
    const isLoaded = condition === success;
    const conditionOf05 = {
      type: isLoaded ? "Loaded" : "NotLoaded",
      reason: isLoaded ? "bpfmanLoaded" : "bpfmanNotLoaded",
      status: "True",
      lastTransitionTime: "2026-01-01T00:00:00Z",
      message: isLoaded ? "Successfully loaded bpfProgram" : "Failed to load bpfProgram",
    };
    const link = {
      interfaceName,
      linkStatus: linkId === undefined ? "NotAttached" : "Attached",
      shouldAttach: true,
      linkId,
    };
    const status =
      version === "0.6"
        ? {
            node: nodeName,
            appLoadStatus: load,
            updateCount: 1,
            conditions: [conditionOf06],
            programs: programId === undefined ? [] : [{ name: "p", type: "XDP", programId, xdp: { links: [link] } }],
          }
        : { conditions: [conditionOf05] };
    const metadata = {
      name,
      labels: { "bpfman.io/ownedByProgram": owner, "kubernetes.io/hostname": nodeName },
      annotations: version === "0.5" && isLoaded ? { "bpfman.io/ProgramId": String(programId) } : {},
      ownerReferences: [{ apiVersion: apiVersionOf(objects), kind: objects.kind, name: owner, uid, controller: true }],
    };
    const body = { apiVersion: apiVersionOf(states), kind: states.kind, metadata };
    const last = written.get(name);
    const now = JSON.stringify([metadata, status]);
    if (last === now) return;
    try {
      await transport.request({ method: "POST", path: collectionPath(states), body });
    } catch (failure) {
      if (!isKubeError(failure, "AlreadyExists")) throw failure;
      await patch(states, name, { metadata });
    }
    await patch(states, name, { status }, "status");
    written.set(name, now);
  }
  const written = new Map<string, string>();

  async function patch(type: ResourceType, name: string, body: object, subresource?: string): Promise<void> {
    const path = objectPath(type, { name }, subresource);
    await transport.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
    },
  };
}

function workOfApplication(object: unknown): Work {
  const spec = recordAt(object, "spec");
  const program = itemOf(spec["programs"]);
  const link = itemOf(recordAt(program, "xdp")["links"]);
  return {
    functionName: textOf(program, "name"),
    path: textOf(spec["byteCode"], "path"),
    image: textOf(recordAt(spec, "byteCode", "image"), "url"),
    interfaceName: String(firstOf(recordAt(link, "interfaceSelector")["interfaces"])),
    priority: Number(recordAt(link)["priority"]),
    proceedOn: actionsOf(recordAt(link)["proceedOn"]),
    host: textOf(recordAt(spec, "nodeSelector", "matchLabels"), "kubernetes.io/hostname"),
  };
}

function workOfXdpProgram(object: unknown): Work {
  const spec = recordAt(object, "spec");
  return {
    functionName: textOf(spec, "bpffunctionname"),
    path: textOf(spec["bytecode"], "path"),
    image: textOf(recordAt(spec, "bytecode", "image"), "url"),
    interfaceName: String(firstOf(recordAt(spec, "interfaceselector")["interfaces"])),
    priority: Number(spec["priority"]),
    proceedOn: actionsOf(spec["proceedon"]),
    host: textOf(recordAt(spec, "nodeselector", "matchLabels"), "kubernetes.io/hostname"),
  };
}

/** Names of XDP actions in both releases, with the numbers of the kernel and of bpfman's dispatcher. */
const actions: ReadonlyMap<unknown, number> = new Map([
  ["aborted", 0],
  ["drop", 1],
  ["pass", 2],
  ["tx", 3],
  ["redirect", 4],
  ["dispatcher_return", 31],
]);

/** "DispatcherReturn" and "dispatcher_return" are the same action. Throws RangeError for an unknown one. */
function actionsOf(names: unknown): readonly number[] {
  return (Array.isArray(names) ? names : []).map((name: unknown) => {
    const number = actions.get(
      String(name)
        .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_")
        .toLowerCase(),
    );
    if (number === undefined) throw new RangeError(`bpfman has no XDP action ${String(name)}`);
    return number;
  });
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? (list[0] as unknown) : undefined;
}

function itemOf(list: unknown): Readonly<Record<string, unknown>> {
  return recordAt(firstOf(list));
}

function textOf(object: unknown, field: string): string {
  const value = recordAt(object)[field];
  return typeof value === "string" ? value : "";
}
