// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { encodeRedirectProgram } from "./redirect-program.ts";

it("assembles the program byte by byte, with the descriptor of the map", () => {
  expect(encodeRedirectProgram(0x1234).toString("hex")).toBe(
    [
      "6112100000000000", // r2 = *(u32 *)(r1 + 16)
      "1811000034120000", // r1 = map 0x1234
      "0000000000000000",
      "b703000002000000", // r3 = 2
      "8500000033000000", // call bpf_redirect_map
      "9500000000000000", // exit
    ].join(""),
  );
});
