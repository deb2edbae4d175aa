// SPDX-License-Identifier: Apache-2.0
/**
 * createAdmittedDeletions remembers deletions of policies that were admitted and that the cache does not show yet. `kubectl
 * delete` of several policies sends one review after the other within milliseconds. Judged by the cache alone, each deletion
 * would seem to leave the VFs to the other policies. Then none would announce the drain that all of them cause.
 *
 * Only the impact of further deletions is computed from them. Somebody else may still refuse a deletion, so no rule depends
 * on it. A replica only knows the reviews that it has answered itself.
 */
import type { ClusterView } from "@switchyard/admission";

export interface AdmittedDeletions {
  /** `uid` is metadata.uid of the policy that is being deleted. */
  record(name: string, uid: string | undefined): void;
  /** Returns the view without the policies that are about to disappear. */
  applyTo(view: ClusterView): ClusterView;
}

/** A cache shows a deletion within milliseconds. After this time, the deletion was probably refused by somebody else. */
const lifetimeMs = 5_000;

/** More deletions than a person or a pipeline makes at once; older ones are dropped. */
const maxDeletions = 1_000;

/** `nowMs` is a monotonic clock. */
export function createAdmittedDeletions(nowMs: () => number): AdmittedDeletions {
  const deletions = new Map<string, { readonly uid: string | undefined; readonly atMs: number }>();
  return {
    record(name, uid) {
      deletions.delete(name); // moves the entry to the end
      deletions.set(name, { uid, atMs: nowMs() });
      const [oldest] = deletions.keys();
      if (deletions.size > maxDeletions && oldest !== undefined) deletions.delete(oldest);
    },
    applyTo(view) {
      for (const [name, { atMs }] of deletions) if (nowMs() - atMs > lifetimeMs) deletions.delete(name);
      if (deletions.size === 0) return view;
      // A policy that was created again under the same name has another uid.
      const isKept = ({ name, uid }: { readonly name: string; readonly uid?: string }): boolean => {
        const deletion = deletions.get(name);
        return deletion === undefined || deletion.uid !== uid;
      };
      return { ...view, policies: view.policies.filter(({ metadata }) => isKept(metadata)) };
    },
  };
}
