// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { defined } from "./values/result.ts";

/** With exactOptionalPropertyTypes no member may be undefined. */
interface Link {
  readonly name: string;
  readonly mtu?: number;
  readonly driver?: string | null;
}

function link(mtu: number | undefined, driver: string | null | undefined): Link {
  return { name: "ens1", ...defined({ mtu, driver }) };
}

describe("defined", () => {
  it("drops members that are undefined", () => {
    expect(Object.keys(link(undefined, undefined))).toEqual(["name"]);
    expect(link(1500, "igb")).toEqual({ name: "ens1", mtu: 1500, driver: "igb" });
  });

  it("keeps other empty values", () => {
    expect(defined({ count: 0, text: "", none: null, no: false })).toEqual({
      count: 0,
      text: "",
      none: null,
      no: false,
    });
    expect(link(0, null)).toEqual({ name: "ens1", mtu: 0, driver: null });
  });
});
