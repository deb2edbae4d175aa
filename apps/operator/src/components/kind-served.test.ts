// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { sriovOperatorConfigs } from "@switchyard/api";
import { KubeError } from "@switchyard/kube";
import { isKindGone, isKindServed } from "../facts/cluster-settings.ts";

const path = "/apis/sriovnetwork.openshift.io/v1";
const refusal = (code: "NotFound" | "Forbidden", status: number) => new KubeError(`GET ${path}`, code, { status });

/** `answer` is thrown if it is an error. */
function ask(answer: unknown): Promise<boolean> {
  const request = (request: { readonly path: string }) => {
    expect(request.path).toBe(path);
    return answer instanceof KubeError ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return isKindServed({ request }, sriovOperatorConfigs, new AbortController().signal);
}

describe("isKindServed", () => {
  it.each([
    { what: "lists the kind", answer: { resources: [{ name: "sriovoperatorconfigs" }] }, served: true },
    { what: "lists other kinds only", answer: { resources: [{ name: "sriovnetworks" }] }, served: false },
    { what: "does not know the group", answer: refusal("NotFound", 404), served: false },
    { what: "answers something else", answer: "ok", served: true },
  ])("is $served if discovery $what", async ({ answer, served }) => {
    expect(await ask(answer)).toBe(served);
  });

  it("rejects if discovery is refused", async () => {
    await expect(ask(refusal("Forbidden", 403))).rejects.toThrow("Forbidden");
  });
});

describe("isKindGone", () => {
  it.each([
    { what: "does not exist", definition: refusal("NotFound", 404), gone: true },
    { what: "exists", definition: { kind: "PartialObjectMetadata" }, gone: false },
    { what: "may not be read", definition: refusal("Forbidden", 403), gone: false },
  ])("is $gone if the kind is not served and its definition $what", async ({ definition, gone }) => {
    const request = (request: { readonly path: string }) => {
      if (request.path === path) return Promise.reject(refusal("NotFound", 404));
      return definition instanceof KubeError ? Promise.reject(definition) : Promise.resolve(definition);
    };
    expect(await isKindGone({ request }, sriovOperatorConfigs, new AbortController().signal)).toBe(gone);
  });
});
