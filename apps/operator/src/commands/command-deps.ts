// SPDX-License-Identifier: Apache-2.0
/** CommandDeps is what a command works with, and readObject reads one object with it. */
import {
  isKubeError,
  isKubeObject,
  objectPath,
  type KubeObject,
  type ObjectName,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import type { TimeLimit } from "./time-limit.ts";

export interface CommandDeps {
  readonly transport: Transport;
  readonly limit: TimeLimit;
  /** Prints a line of progress. */
  readonly print: (line: string) => void;
  /** Prints a line about a problem. */
  readonly fail: (line: string) => void;
}

/** Undefined if the object, or its kind, does not exist. Rejects with KubeError, or with CommandError TIMED_OUT. */
export async function readObject(
  { transport, limit }: Pick<CommandDeps, "transport" | "limit">,
  type: ResourceType,
  name: ObjectName,
): Promise<KubeObject | undefined> {
  const object = await limit.retry(async (signal) => {
    try {
      return await transport.request({ method: "GET", path: objectPath(type, name), signal });
    } catch (error) {
      if (isKubeError(error, "NotFound")) return undefined;
      throw error;
    }
  });
  return isKubeObject(object) ? object : undefined;
}
