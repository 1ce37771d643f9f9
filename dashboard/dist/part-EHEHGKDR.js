import{c as a,d as b,e as c}from"./part-TRPTCLJV.js";import"./part-5D4BPOXK.js";import"./part-V2OCK4X6.js";import"./part-7AEDZORL.js";export{c as Tokens,b as scopes,a as sources};
