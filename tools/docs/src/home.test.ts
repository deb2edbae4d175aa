// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { removeIntroduction } from "./home.ts";

const heading = (tag: string) => [
  { type: "heading_open", tag },
  { type: "heading_close", tag },
];

describe("removeIntroduction", () => {
  it("keeps what follows the first heading of level 2, or everything if there is none", () => {
    const tokens = [...heading("h1"), { type: "paragraph_open", tag: "p" }, ...heading("h2"), ...heading("h3")];
    removeIntroduction(tokens);
    expect(tokens).toEqual([...heading("h2"), ...heading("h3")]);
    const without = heading("h1");
    removeIntroduction(without);
    expect(without).toEqual(heading("h1"));
  });
});
