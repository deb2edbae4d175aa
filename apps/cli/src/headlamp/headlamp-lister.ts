// SPDX-License-Identifier: Apache-2.0
/**
 * createHeadlampLister lists objects through Headlamp, with the rights of its user.
 * Usage: `listSnapshot(createHeadlampLister(library.ApiProxy.clusterRequest, "lab"), options)`.
 */
import { KubeError } from "@switchyard/kube/lists";
import type { Lister } from "../input/list-snapshot.ts";
import type { HeadlampLibrary } from "./headlamp-library.ts";

const codes: ReadonlyMap<unknown, string> = new Map([
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "NotFound"],
  [410, "Expired"],
]);

/** Only for lists: other requests reject with KubeError, so that nothing is ever changed. */
export function createHeadlampLister(
  clusterRequest: HeadlampLibrary["ApiProxy"]["clusterRequest"],
  cluster: string,
): Lister {
  return {
    async request({ method, path, query = {} }) {
      const tried = `${method} ${path}`;
      if (method !== "GET") throw new KubeError(tried, "MethodNotAllowed");
      const given = Object.entries(query).flatMap(([key, value]): readonly [string, string][] =>
        value === undefined ? [] : [[key, String(value)]],
      );
      const text = new URLSearchParams(given).toString();
      try {
        return await clusterRequest(text === "" ? path : `${path}?${text}`, { cluster });
      } catch (cause) {
        const status = typeof cause === "object" && cause !== null && "status" in cause ? cause.status : undefined;
        const words = cause instanceof Error ? cause.message : String(cause);
        throw new KubeError(tried, codes.get(status) ?? "Unreachable", { words, cause });
      }
    },
  };
}
