// SPDX-License-Identifier: Apache-2.0
/**
 * simulatePods plays the scheduler and the kubelets for the pods of DaemonSets, on nodes that are only API objects: the
 * pods run and are ready while the test wants it.
 */
import { pods as type } from "@switchyard/api";
import { isKubeError, objectPath, watchObjects, type KubeObject, type Transport } from "@switchyard/kube";

/** The pods. Disposing ends the watch. */
export interface ComponentPods extends AsyncDisposable {
  /** Sets whether the pods are ready from now on. */
  run(isRunning: boolean): void;
}

interface Pod extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Starts to run the pods of a namespace. They are pending until run(true). */
export function simulatePods(transport: Transport, namespace: string): ComponentPods {
  let isRunning = false;
  const end = new AbortController();
  const pods = watchObjects({ transport, type, namespace, report: () => undefined, project: (pod: Pod) => pod });
  pods.subscribe(({ after }) => {
    if (after !== undefined) void settle(after);
  });

  async function settle({ metadata, status }: Pod): Promise<void> {
    const ready = isRunning ? "True" : "False";
    if (status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === ready)) return;
    const body = {
      status: { phase: isRunning ? "Running" : "Pending", conditions: [{ type: "Ready", status: ready }] },
    };
    const path = objectPath(type, metadata, "status");
    try {
      const contentType = "application/merge-patch+json";
      await transport.request({ method: "PATCH", path, body, contentType, signal: end.signal });
    } catch (error) {
      if (!end.signal.aborted && !isKubeError(error, "NotFound", "Conflict", "Invalid")) throw error;
    }
  }

  return {
    run(next) {
      isRunning = next;
      for (const pod of pods.list()) void settle(pod);
    },
    [Symbol.asyncDispose]() {
      end.abort();
      return pods[Symbol.asyncDispose]();
    },
  };
}
