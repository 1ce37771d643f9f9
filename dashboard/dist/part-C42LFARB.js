import{c as a,d as b,e as c}from"./part-NHSR2WYQ.js";import"./part-6G43JQWT.js";import"./part-FTVHS73C.js";import"./part-5IUY2JIZ.js";export{c as Tokens,b as scopes,a as sources};
