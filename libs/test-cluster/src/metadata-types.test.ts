// SPDX-License-Identifier: Apache-2.0
/**
 * libs/api has the types of metadata and conditions because CRDs are generated from them. libs/kube has its own because it
 * knows no kinds. Types are checked by `npm run typecheck`: each line below fails to compile when the two drift apart.
 */
import { describe, expect, it } from "@jest/globals";
import type * as api from "@switchyard/api";
import type * as kube from "@switchyard/kube";

/** The names of fields that only one of the types has. Optional fields count, too, which assignability does not notice. */
type Unshared<A, B> = Exclude<keyof A, keyof B> | Exclude<keyof B, keyof A>;

type Same<A, B> = [Unshared<A, B>] extends [never]
  ? [A] extends [B]
    ? [B] extends [A]
      ? true
      : false
    : false
  : false;

describe("the types of metadata in libs/api and libs/kube", () => {
  it("are the same, apart from managedFields", () => {
    const sameMetadata: Same<api.ObjectMeta, Omit<kube.ObjectMeta, "managedFields">> = true;
    const sameOwner: Same<api.OwnerReference, kube.OwnerReference> = true;
    const sameCondition: Same<api.Condition, kube.Condition> = true;
    const sameResource: Same<api.ResourceType, kube.ResourceType> = true;
    expect([sameMetadata, sameOwner, sameCondition, sameResource]).not.toContain(false);
  });
});
