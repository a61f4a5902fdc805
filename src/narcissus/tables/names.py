"""What a column's name reveals: identifiers, secrets, common knowledge, codes of places.

Known are English words, some codes of census files, and the plainest words of German, French,
Spanish, Turkish and Japanese. A column that no word names follows from its values, or asked for.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDENTIFIES = _listed(
    "id ids uid uuid guid pid eid key rowid index unnamed ssn nino nhs mrn passport licence "
    "license iban account card email mail phone telephone tel mobile fax name surname firstname "
    "lastname fullname username login nickname address street url ip mac token hash serial "
    "number rownames rowname rownum obsno num nr nbr kennung kennziffer nummer fallnummer "
    "aktenzeichen vorname nachname anschrift adresse telefon identifiant numero numéro nom "
    "prénom prenom adresse courriel identificador nombre apellido dirección direccion correo "
    "dni kimlik numara sıra sira isim soyad soyisim adres eposta 番号 氏名 名前 住所 電話 "
    "電話番号 患者番号 識別子"
)
"""Words of columns that name a person, or a row."""

PERSON = re.compile(
    r"ids?|[upe]id|(uu|gu)id|subject|patient|participant|respond(ent)?|student|animal|individual|"
    r"(case|pers(on)?|resp|subj(ect)?|pat(ient)?|part|hh(old)?|fam(ily)?|obs|row|rec(ord)?|user|"
    r"emp(loyee)?|stud(ent)?|indiv?|child|mother|cust(omer)?|acct|member|loan|animal|study)"
    r"_?(id|no|nr|num)[ns\d]?"
)
"""A word of a column that numbers people, each perhaps in several rows."""

PLACE = re.compile(
    r"(iso|cow|gw)(_?(num|code|n|[23]c?))?|tch|(sch(ool)?|class|unit|firm|clust(er)?|teach(er)?|"
    r"tch|count(r)?y|state|dist(rict)?|site|hosp(ital)?|pair|team|group|region|data|station)"
    r"_?(ids?|no|nr|num|code)(k|kn|n|s|\d)?"
)
"""A word of a column whose numbers name a place, a school or another group of people."""

TIME = _listed(
    "year years yr month months week weeks day days date dates time times hour hours quarter "
    "qtr period season decade wave visit occasion session trial round epoch age"
)
"""Words of columns that say when a row was made, or how old somebody is."""

SECRET = _listed(
    "income incomes inc hhinc hhninc hhincome lincome salary salaries lsalary wage wages lwage "
    "wagp pincp pay earn earns earnings wealth assets debt debts loan credit savings balance "
    "welfare benefit benefits poverty bankrupt bankruptcy fraud esr employed unemployed "
    "diagnosis diagnoses disease illness ill sick condition symptom hiv aids std cancer tumor "
    "tumour diabetes diabetic stroke hypertension asthma covid depression depressed anxiety "
    "mental psychiatric suicide disability disabled pregnant pregnancy abortion medication "
    "medicine drug drugs alcohol smoke smoker smoking smokes addiction treatment therapy "
    "genotype mutation religion religious faith politics political party vote voted votes union "
    "orientation gay lesbian sexual affair affairs divorce crime criminal conviction convicted "
    "arrest arrested prison offence offense recidivism recid victim violence abuse asylum "
    "einkommen gehalt lohn vermögen vermoegen schulden diagnose diagnosen krankheit erkrankung "
    "krank schwanger religion konfession partei behinderung raucher vorstrafe sucht medikament "
    "revenu revenus salaire salaires patrimoine dette dettes maladie malade diagnostic enceinte "
    "handicap fumeur médicament medicament ingreso ingresos salario sueldo renta deuda deudas "
    "enfermedad enfermo diagnóstico diagnostico embarazada religión discapacidad fumador voto "
    "gelir maaş maas ücret borç borc servet hastalık hastalik teşhis teshis tanı tani hamile "
    "din engelli sigara 収入 所得 年収 給与 給料 病気 病名 疾患 診断 診断名 妊娠 宗教 喫煙 障害 "
    "支持政党"
)
"""Words of columns that people keep to themselves, or that the law calls sensitive."""

OUTCOME = _listed(
    "outcome target label result status default churn score grade death dead died survived "
    "relapse y"
)
"""Words of columns that a study was made for."""

PUBLIC = _listed(
    "age agep sex gender male female race rac1p ethnicity ethnic birth born birthday birthdate "
    "dob zip zipcode postcode postal city town county state region country province district "
    "ward neighborhood neighbourhood area tract fips nationality nativity native citizenship "
    "cit language marital married mar marriage spouse husband wife children child kids "
    "household family relationship relp education educ schl school degree occupation job "
    "profession employer industry vehicle car housing tenure home height alter geschlecht "
    "geburtsjahr geburtsdatum plz postleitzahl ort wohnort gemeinde bundesland kreis "
    "familienstand kinder haushalt beruf bildung schulabschluss nationalität "
    "staatsangehörigkeit âge sexe naissance commune ville département departement région "
    "profession diplôme enfants ménage nationalité edad sexo nacimiento municipio ciudad "
    "provincia región profesión ocupación educación hijos hogar nacionalidad yaş yas cinsiyet "
    "doğum dogum şehir sehir il ilçe ilce meslek eğitim egitim medeni çocuk hane 年齢 性別 "
    "生年月日 都道府県 市区町村 郵便番号 職業 学歴 婚姻 世帯"
)
"""Words of columns that neighbours, colleagues or registers know."""

GROUPS = _listed(
    "sex gender race rac1p ethnicity ethnic age agep nationality alter geschlecht sexe sexo "
    "edad yaş cinsiyet 性別 年齢"
)
"""Words of columns whose values are groups that fairness asks about."""

CODES = _listed(
    "zip zipcode postcode postal fips tract code codes station district ward plz ags "
    "postleitzahl kreis gemeinde commune municipio il ilçe 郵便番号 市区町村"
)
"""Words of columns whose numbers are names of something: their distances mean nothing."""

MISSING_LIKE = _listed(
    "? - -- . unknown missing refused none_given not_stated not_available not_known dont_know "
    "dk n.a. n.d. unspecified -1 -7 -8 -9 -77 -88 -99 -777 -888 -999 -9999 77 88 97 98 99 777 "
    "888 997 998 999 7777 8888 9997 9998 9999 99999 999999 9999999"
)
"""Values that say that there is none; blanks as underscores, without apostrophes."""


def words(name: str) -> list[str]:
    """Split a column name into lower-case words: "HomeZipcode_2" has home, zipcode, 2."""
    whole = name.strip().lower()
    letters = re.findall(r"[^\W\d_]+", whole)
    return [whole, *letters, *(word.lower() for word in _WORD.findall(name))]


_YEAR = re.compile(r"y\d\d(\d\d)?", re.IGNORECASE)  # a year, such as y81, and no outcome


_COMPOUND = re.compile(
    r"\w+(einkommen|vermögen|vermoegen|schulden|diagnosen?|krankheit|erkrankung|behinderung)"
)
"""A German word whose last part is a secret: Haushaltsnettoeinkommen."""


def says(name: str, meaning: frozenset[str] | re.Pattern[str]) -> bool:
    """Tell whether a word of a name has a meaning; of a German compound, its last part.

    >>> says("Haushaltsnettoeinkommen", SECRET), says("Mietquote", SECRET)
    (True, False)
    """
    name_words = [] if _YEAR.fullmatch(name) else words(name)
    name_words += [match[1] for word in name_words if (match := _COMPOUND.fullmatch(word))]
    if isinstance(meaning, re.Pattern):
        return any(meaning.fullmatch(word) for word in name_words)
    return not meaning.isdisjoint(name_words)


def numbers_people(name: str) -> bool:
    """Whether the name is that of an identifier of people, and of no group of them."""
    return says(name, PERSON) and not says(name, PLACE)
