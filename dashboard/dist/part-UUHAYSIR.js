import{c as a,d as b,e as c}from"./part-KIQHZ6UA.js";import"./part-ZBRF2BEA.js";import"./part-ACVOCVJ4.js";import"./part-VLSUY5UB.js";export{c as Tokens,b as scopes,a as sources};
