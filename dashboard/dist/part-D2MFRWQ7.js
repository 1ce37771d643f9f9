import{c as a,d as b,e as c}from"./part-UNL3EBWE.js";import"./part-PBQIMS67.js";import"./part-GDBUVUHI.js";import"./part-UFX2RA5H.js";export{c as Tokens,b as scopes,a as sources};
