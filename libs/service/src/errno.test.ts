// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "@jest/globals";
import { isErrno } from "./errors.ts";

describe("isErrno", () => {
  it("recognises the error of a system call, by any or by a given code", async () => {
    const error: unknown = await readFile("/nowhere/x").catch((thrown: unknown) => thrown);
    expect(isErrno(error)).toBe(true);
    expect(isErrno(error, "ENOTDIR", "ENOENT")).toBe(true);
    expect(isErrno(error, "EACCES")).toBe(false);
  });

  it("does not take other errors with a code for one", () => {
    const aborted: unknown = AbortSignal.abort().reason;
    for (const other of [aborted, Object.assign(new Error("bad"), { code: "ERR_INVALID_ARG_TYPE" }), "ENOENT", null]) {
      expect(isErrno(other)).toBe(false);
    }
  });
});
