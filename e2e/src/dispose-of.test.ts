// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { disposeOf } from "./dispose-of.ts";

function resource(name: string, disposed: string[], error?: Error): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      disposed.push(name);
      if (error !== undefined) return Promise.reject(error);
      return Promise.resolve();
    },
  };
}

describe("disposeOf", () => {
  it("passes over what a failed beforeAll has not made", async () => {
    const disposed: string[] = [];
    await disposeOf(undefined, resource("registry", disposed));
    expect(disposed).toEqual(["registry"]);
  });

  it("disposes of all, in order, and rejects with what failed", async () => {
    const disposed: string[] = [];
    const error = new Error("busy");
    const all = disposeOf(resource("cluster", disposed, error), resource("registry", disposed));
    await expect(all).rejects.toBe(error);
    expect(disposed).toEqual(["cluster", "registry"]);
  });
});
